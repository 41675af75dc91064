/** The checkers, in the order in which they are tried. */
export const CHECKERS = ['simulate', 'fsync', 'crash', 'damage', 'cluster'] as const
export type Checker = (typeof CHECKERS)[number]

/** A fault, as an edit of a copy of the sources. `find` must occur exactly once in the file. */
export interface Plant {
  name: string
  file: string
  find: string
  replace: string
  /** What a checker that finds the fault prints; any other failure of a checker does not count. */
  shows: RegExp
  /** The checker that must find it; any of them by default. */
  by?: Checker
}

/** Faults that the checkers must find. */
export const PLANTS: readonly Plant[] = [
  {
    name: 'recovery approves open requests',
    file: 'src/sessions/recovery/recovery.ts',
    find: "events.push({ type: 'request.withdrawn', requestId, reason: 'process_ended' })",
    replace: "events.push({ type: 'request.resolved', requestId, decision: 'allow', by: 'person' })",
    shows: /answer: \S+ has the decision "allow", which no client sent/,
  },
  {
    name: 'fsync off',
    file: 'src/stores/sqlite/connection.ts',
    find: "durability === 'power' ? 'FULL' : 'NORMAL'",
    replace: "durability === 'power' ? 'OFF' : 'NORMAL'",
    shows: /commits without an fsync/,
    by: 'fsync',
  },
  {
    name: 'frames dropped',
    file: 'src/sessions/process/agent-process.ts',
    find: 'for (const frame of batch) {',
    replace: 'for (const frame of batch) {\n      if (frame.text.length % 5 === 0) continue',
    shows: /text: .* characters of|journal: .* is not what the agent printed next/,
  },
  {
    name: 'answers written twice',
    file: 'src/sessions/turns/answering.ts',
    find: '{ command: answer, writes },',
    replace: '{ command: answer, writes: [...writes, ...writes] },',
    shows: /answer: \S+ was answered 2 times/,
  },
  {
    name: 'journal dropped',
    file: 'src/sessions/log/log.ts',
    find: 'this.#journal.push({ frame, stream,',
    replace: 'if (frame % 5 !== 0) this.#journal.push({ frame, stream,',
    shows: /journal: .* (follows|came from frame)/,
  },
  {
    name: 'command keys not kept',
    file: 'src/sessions/log/log.ts',
    find: 'this.#receipts.push({ scope, key, fingerprint, session, answer: answerOf(answer, record, result) })',
    replace: 'void { scope, key, fingerprint, session, answer: answerOf(answer, record, result) }',
    shows: /repeated: p\d+ .* is in .* and |was turn \d+, then/,
  },
  {
    name: 'interrupt does nothing',
    file: 'src/sessions/turns/interrupts.ts',
    find: "if (turn === turns.open) return this.interrupt('interrupt', context)",
    replace: 'if (turn === turns.open) return log.commit(context?.claims)',
    shows: /interrupt: .* was confirmed at/,
  },
  {
    name: 'entry repeated to a reader',
    file: 'src/reading/follow.ts',
    find: 'cursor += found.length',
    replace: 'cursor += Math.max(1, found.length - (cursor % 11 === 10 ? 1 : 0))',
    shows: /a reader was shown another entry|repeated: .* messages twice/,
  },
  {
    name: 'entry lost to a reader',
    file: 'src/reading/follow.ts',
    find: 'yield found\n',
    replace: 'yield cursor % 11 === 10 ? found.slice(1) : found\n',
    shows: /a reader was shown|gap: .* was shown/,
  },
  {
    name: 'two terminals for a turn',
    file: 'src/sessions/machine/turn-machine.ts',
    find: 'if (!tooLate) return ends',
    replace: 'if (!tooLate) return [...ends, completed]',
    shows: /comes after the end of turn|ended 2 times/,
  },
  {
    name: 'position of the output not committed',
    file: 'src/sessions/log/log.ts',
    find: 'if (position) this.#journal.push(',
    replace: 'if (position && frames % 3 === 0) this.#journal.push(',
    shows: /journal: .* is not what the agent printed next|text: /,
    by: 'crash',
  },
  {
    name: 'last write repeated after a crash',
    file: 'src/sessions/recovery/reattach.ts',
    find: 'firstWrite: written.done,',
    replace: 'firstWrite: Math.max(0, written.done - 1),',
    shows: /the agent received \S+ \d+ times|was answered 2 times|repeated: /,
    by: 'crash',
  },
  {
    name: 'orphan left after a crash',
    file: 'src/drivers/tree/sweep.ts',
    find: 'const tree = new ProcessTree(table, over, undefined, groups, { owner, except, folders, roots })',
    replace: 'const tree = new ProcessTree(table, [], undefined, undefined)',
    shows: /orphan: \d+/,
    by: 'damage',
  },
  {
    name: 'record written without its fence',
    file: 'src/stores/memory.ts',
    find: 'this.#checkFence(session, fence)\n    this.#append(session, batch)',
    replace:
      'if (batch.entries.length > 0) this.#checkFence(session, fence)\n    this.#append(session, batch)',
    shows: /the record of \S+ is .*, and its log says/,
  },
  {
    name: 'leases end early',
    file: 'src/stores/leases.ts',
    find: 'const end = this.#time.now() + ttlMs',
    replace: 'const end = this.#time.now() + ttlMs / 3',
    shows: /still runs when the lease of its server ends/,
  },
  {
    name: 'agents stopped after the lease',
    file: 'src/sessions/recovery/ownership.ts',
    find: 'const STOP_MS = 12_000',
    replace: 'const STOP_MS = -5_000',
    shows: /still runs when the lease of its server ends/,
  },
  {
    name: 'agents of a node stopped 5 s after its lease',
    file: 'src/sessions/recovery/ownership.ts',
    find: 'const STOP_MS = 12_000',
    replace: 'const STOP_MS = -5_000',
    shows: /overlap: .* was alive \d+ ms after .* had started on another node/,
    by: 'cluster',
  },
  {
    name: 'commits to PostgreSQL without their fence',
    file: 'src/stores/postgres/session-change.ts',
    find: 'WHERE s.id = i.id AND s.fence = i.fence AND s.writes = i.writes AND',
    replace: 'WHERE s.id = i.id AND',
    shows: /fence: n\d wrote to \S+, whose owner is (n\d|nobody)/,
    by: 'cluster',
  },
]
