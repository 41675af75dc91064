import type { Agent } from '../../src/agents/agent.ts'
import { MainstemError } from '../../src/model/index.ts'
import { Cluster } from '../../src/nodes/cluster.ts'
import type { NodeDeps } from '../../src/nodes/deps.ts'
import { isBelow } from '../../src/nodes/placement.ts'
import type { NodeStore } from '../../src/stores/nodes.ts'
import type { Store } from '../../src/stores/store.ts'
import { FakeTime } from '../sessions/fake-driver.ts'
import { house } from '../sessions/house.ts'
import { sharedMemoryStore } from '../stores/shared-memory.ts'

export const TTL = 30_000

export interface NodeOptions {
  roots?: readonly string[]
  labels?: readonly string[]
  maxProcesses?: number
  agents?: readonly Agent[]
  /** How much too late its timers in the background fire. */
  lateMs?: number
  /** The store as this node sees it. */
  seen?: (store: SharedStore) => SharedStore
}

export type SharedStore = Store & { readonly nodes: NodeStore }

/** Servers on one store that share one time, which a test lets pass. */
export function cluster() {
  const time = new FakeTime()
  const store = sharedMemoryStore(() => time.now)
  let processes = 0
  const nodeOf = (name: string, options: NodeOptions = {}) =>
    new TestNode(name, `process-${++processes}`, { time, store, ...options })
  return { time, store, nodeOf }
}

/** Lets time pass until something settles. */
export async function passing<T>(time: FakeTime, waited: Promise<T>): Promise<T> {
  let over = false
  const settled = () => {
    over = true
  }
  void waited.then(settled, settled)
  for (let passed = 0; passed < 4 * TTL && !over; passed += 200) await time.pass(200)
  return waited
}

type Surroundings = NodeOptions & { time: FakeTime; store: SharedStore }

/** One server of several. */
export class TestNode {
  readonly name: string
  readonly reported: unknown[] = []
  readonly house: ReturnType<typeof house>
  readonly cluster: Cluster
  draining = false
  readonly #time: FakeTime

  constructor(name: string, process: string, given: Surroundings) {
    const {
      time,
      store,
      roots = ['/'],
      labels = [],
      maxProcesses = 10,
      agents,
      lateMs = 0,
      seen = (all) => all,
    } = given
    const mine = seen(store)
    const terms = { owner: name, ttlMs: TTL }
    const mayRun: NodeDeps['mayRun'] = (session) =>
      roots.some((root) => isBelow(root, session.cwd)) &&
      (session.labels ?? []).every((label) => labels.includes(label))
    this.name = name
    this.#time = time
    const background = { sleep: (ms: number, signal: AbortSignal) => time.sleep(ms + lateMs, signal) }
    const more = { terms, background, time, node: name, mayRun, newId: ids(process) }
    this.house = house(mine, { maxProcesses, ...(agents && { known: agents }), ...more })
    const track = (work: Promise<unknown>) => void work.catch((thrown) => this.reported.push(thrown))
    this.cluster = new Cluster(this.house.sessions, mine, track, {
      store: mine,
      clock: { now: () => time.now, monotonic: () => time.now },
      background: time,
      terms,
      processId: process,
      newId: ids(`command of ${process}`),
      info: () => ({
        version: '0.0.0',
        labels,
        roots,
        processes: this.house.driver.runs.filter(({ isAlive }) => isAlive).length,
        maxProcesses,
        draining: this.draining,
      }),
      mayRun,
      async directory(path, field = 'cwd') {
        if (roots.some((root) => isBelow(root, path))) return path
        throw new MainstemError('forbidden', `${field}: not a directory below the configured roots`)
      },
      track,
      report: (thrown) => void this.reported.push(thrown),
    })
  }

  get sessions() {
    return this.house.sessions
  }

  get driver() {
    return this.house.driver
  }

  /** Joins the others, as a server does at its start. */
  async start(): Promise<this> {
    await this.cluster.join()
    await this.sessions.recover()
    this.cluster.start()
    return this
  }

  /** Stops in order, as a server does: turns that run may end within `drainMs`. */
  async stop(drainMs = 0): Promise<void> {
    this.draining = true
    await this.cluster.announce()
    const handedOver = this.sessions.handOver()
    await Promise.race([handedOver, this.#time.sleep(drainMs, new AbortController().signal)])
    await this.sessions.drain()
    await this.cluster.leave()
  }
}

let made = 0
/** Session ids are UUIDs; commands may have any id. */
function ids(process: string): () => string {
  if (process.startsWith('command')) return () => `${process} ${++made}`
  return () => `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`
}
