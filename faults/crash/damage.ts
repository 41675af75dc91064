import { appendFileSync, readdirSync, readFileSync, renameSync, symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { Note } from '../fakes/history.ts'
import { pick, type Random } from '../random.ts'

/**
 * What happens to a running agent while no server runs. `agent`: it is killed. `torn`: it is killed within a line.
 * `guard`: its guard is killed, and it lives. `truncated` and `symlink`: its output is shortened or replaced.
 */
export const DAMAGES = ['agent', 'torn', 'guard', 'truncated', 'symlink'] as const
export type DamageKind = (typeof DAMAGES)[number]

/** Why a turn is lost after each damage. A guard that is gone loses none. */
const REASONS: Readonly<Record<DamageKind, RegExp | undefined>> = {
  agent: /^the agent ended while no server was running/,
  torn: /^the agent ended while no server was running/,
  guard: undefined,
  truncated: /the output of the agent in \S+ has 0 bytes, and \d+ were read before/,
  symlink: /the output of the agent cannot be read: ELOOP/,
}

/** Does damage to the agents of a host whose server is down, and says which turns may be lost for it. */
export class Damages {
  /** How often each was done. */
  readonly done = new Map<DamageKind, number>()
  readonly #spool: string
  readonly #histories: string
  readonly #random: Random
  readonly #kinds: readonly DamageKind[]
  readonly #left = new Map<DamageKind, number>()

  /** `histories` is where fake agents note what they print. */
  constructor(data: string, histories: string, random: Random, kinds: readonly DamageKind[]) {
    this.#spool = join(data, 'spool')
    this.#histories = histories
    this.#random = random
    this.#kinds = kinds
  }

  /** Damages one of the running agents. Does nothing if there is none. */
  strike(): void {
    if (this.#kinds.length === 0) return
    const runs = readdirSync(this.#spool).flatMap((name) => runIn(join(this.#spool, name)))
    if (runs.length === 0) return
    const [kind, run] = [pick(this.#random, this.#kinds), pick(this.#random, runs)]
    if (!harm[kind](run, this.#histories)) return
    this.done.set(kind, (this.done.get(kind) ?? 0) + 1)
    this.#left.set(kind, (this.#left.get(kind) ?? 0) + 1)
  }

  /** Whether a turn may be lost for this reason: one for each damage at most. */
  explains(why: string): boolean {
    const kind = [...this.#left].find(([kind, left]) => left > 0 && REASONS[kind]?.test(why))?.[0]
    if (kind === undefined) return false
    this.#left.set(kind, (this.#left.get(kind) ?? 0) - 1)
    return true
  }
}

interface DamagedRun {
  folder: string
  launcher: number
}

function runIn(folder: string): DamagedRun[] {
  const [pid = ''] = readOr(join(folder, 'pid')).split(' ')
  const launcher = Number(pid)
  return launcher > 0 && readOr(join(folder, 'exit')) === '' && isAlive(launcher)
    ? [{ folder, launcher }]
    : []
}

/** Each returns false if it could not be done. */
const harm: Readonly<Record<DamageKind, (run: DamagedRun, histories: string) => boolean>> = {
  agent: kill,
  torn(run, histories) {
    const agents = childrenOf(run.launcher)
    if (!kill(run)) return false
    appendFileSync(join(run.folder, 'out'), HALF_A_LINE)
    // The agent can note no more, and the journal has what is in the file.
    const note: Note = { type: 'line', text: HALF_A_LINE }
    for (const name of readdirSync(histories).filter((name) => agents.includes(name.split('-')[0] ?? '')))
      appendFileSync(join(histories, name), `${JSON.stringify(note)}\n`)
    return true
  },
  guard({ folder }) {
    const guard = Number(readOr(join(folder, 'guard')))
    return guard > 0 && isAlive(guard) && process.kill(guard, 'SIGKILL')
  },
  truncated({ folder }) {
    truncateSync(join(folder, 'out'), 0)
    return true
  },
  symlink({ folder }) {
    renameSync(join(folder, 'out'), join(folder, 'out.old'))
    symlinkSync(join(folder, 'out.old'), join(folder, 'out'))
    return true
  },
}

const HALF_A_LINE = '{"type":"assist'

function childrenOf(pid: number): string[] {
  return readOr(`/proc/${pid}/task/${pid}/children`).split(' ')
}

/** Ends the launcher and the agent at once, so that nothing records how. */
function kill({ launcher }: DamagedRun): boolean {
  try {
    return process.kill(-launcher, 'SIGKILL')
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  return ['R', 'S', 'D', 'T'].includes(readOr(`/proc/${pid}/stat`).split(') ').at(-1)?.[0] ?? '')
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
