import { check } from '../../../faults/check/check.ts'
import type { ClientHistory } from '../../../faults/check/evidence.ts'
import type { Entry } from '../../../src/model/index.ts'
import type { JournalFrame, Store } from '../../../src/stores/store.ts'
import type { FakeRun, FakeTime } from '../fake-driver.ts'
import { codecOf, journalProblems } from '../machine/journal-fold.ts'
import type { SimulatedAgent } from './simulation-agent.ts'

const LONGEST_STOP_MS = 20_000
/** What needs no time to pass is over before. */
const PATIENT_TICKS = 20
const settle = () => new Promise((resolve) => setImmediate(resolve))

export async function logsOf(store: Store, ids: readonly string[]): Promise<Map<string, readonly Entry[]>> {
  const logs = new Map<string, readonly Entry[]>()
  for (const id of ids) logs.set(id, await store.read(id, 0, 100_000))
  return logs
}

/** Compares the logs of a life with what its agents and clients saw. */
export async function lifeProblems(
  store: Store,
  logs: ReadonlyMap<string, readonly Entry[]>,
  agents: readonly SimulatedAgent[],
  clients: ClientHistory,
): Promise<string[]> {
  const journals = new Map<string, readonly JournalFrame[]>()
  for (const id of logs.keys()) journals.set(id, await store.readJournal(id, 0, 100_000))
  const histories = agents.toSorted((a, b) => a.epoch - b.epoch)
  const found = check({ logs, journals, histories, clients, secrets: new Map() })
  for (const [id, entries] of logs) {
    const { agent = '', launch = 'live' } = (await store.record(id)) ?? {}
    for (const problem of journalProblems(codecOf(agent, launch), journals.get(id) ?? [], entries))
      found.add('journal', `${id}: ${problem}`)
  }
  // A prompt that still waits in a queue has no end yet.
  const waiting = new Set<string>()
  for (const id of logs.keys())
    for (const { turn } of (await store.record(id))?.queue ?? []) waiting.add(`${id} ${turn} ended 0 times`)
  return found.all.filter((problem) => !waiting.has(problem.replace('terminal: ', '')))
}

/** No other server can acquire a session while an agent runs in it. */
export async function leaseProblems(store: Store, runs: readonly FakeRun[]): Promise<string[]> {
  const free = await store.records({ acquirableBy: 'another', limit: 100 })
  return free
    .filter(({ id }) => runs.some(({ isAlive, context }) => isAlive && context.runId.startsWith(id)))
    .map(({ id }) => `an agent of ${id} still runs when the lease of its server ends`)
}

/** Whether something settles in a bounded time, which passes for it. */
export async function settles(ending: Promise<unknown>, time: () => FakeTime): Promise<boolean> {
  let over = false
  const ended = () => {
    over = true
  }
  // A refusal settles it as well.
  void ending.then(ended, ended)
  for (let tick = 0; tick < PATIENT_TICKS && !over; tick++) await settle()
  for (let passed = 0; passed < LONGEST_STOP_MS && !over; passed += 1_000) await time().pass(1_000)
  return over
}
