import type { SessionRecord } from '../../src/model/index.ts'
import { Leases, OpenTime } from '../../src/stores/leases.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type {
  CommitFilter,
  CommitLog,
  NodeCommand,
  NodeInfo,
  NodeStore,
  RegisteredNode,
  StoredCommit,
} from '../../src/stores/nodes.ts'
import { WakeUps } from '../../src/stores/postgres/listener.ts'
import { nameTaken } from '../../src/stores/refusals.ts'
import type { Batch, Store } from '../../src/stores/store.ts'

/** A memory store for several servers in this process. */
export function sharedMemoryStore(monotonic?: () => number): Store & { readonly nodes: NodeStore } {
  const store = memoryStore(monotonic)
  const time = new OpenTime(0, monotonic)
  const sessions = new Sessions(store, new Leases(time))
  const nodes = new MemoryNodes(time, sessions)
  const stored = (session: string, batch: Batch) => {
    const [first] = batch.entries
    const principal = sessions.committed(session, batch)
    if (first) nodes.commits.add({ session, principal, seq: first.seq, count: batch.entries.length })
  }
  const { append, create, acquire, renew, release, delete: remove } = bound(store)
  return Object.assign(store, {
    nodes,
    append: async (...[session, batch, fence]: Parameters<Store['append']>) => {
      await append(session, batch, fence)
      stored(session, batch)
    },
    create: async (...[session, batch, receipt, terms]: Parameters<Store['create']>) => {
      const kept = await create(session, batch, receipt, terms)
      if (kept !== receipt) return kept
      if (terms) sessions.lease(session, terms.owner, terms.ttlMs)
      stored(session, batch)
      return kept
    },
    acquire: async (session: string, owner: string, ttlMs: number) => {
      const lease = await acquire(session, owner, ttlMs)
      sessions.lease(session, owner, ttlMs)
      return lease
    },
    renew: async (owner: string, ttlMs: number) => {
      await renew(owner, ttlMs)
      sessions.leases.extend(owner, ttlMs)
    },
    release: async (owner: string) => {
      await release(owner)
      sessions.leases.end(owner)
    },
    delete: async (...[session, fence, fact]: Parameters<Store['delete']>) => {
      await remove(session, fence, fact)
      sessions.forget(session)
    },
  })
}

function bound(store: Store) {
  return {
    append: store.append.bind(store),
    create: store.create.bind(store),
    acquire: store.acquire.bind(store),
    renew: store.renew.bind(store),
    release: store.release.bind(store),
    delete: store.delete.bind(store),
  }
}

/** What nodes have to know of sessions. */
class Sessions {
  readonly leases: Leases
  readonly #store: Store
  readonly #owners = new Map<string, string>()
  readonly #principals = new Map<string, string>()

  constructor(store: Store, leases: Leases) {
    this.#store = store
    this.leases = leases
  }

  lease(session: string, owner: string, ttlMs: number): void {
    this.#owners.set(session, owner)
    this.leases.extend(owner, ttlMs)
  }

  /** Returns the principal of the session. */
  committed(session: string, { record, release }: Batch): string {
    if (record) this.#principals.set(session, record.principal)
    if (release) this.#owners.delete(session)
    return this.#principals.get(session) ?? ''
  }

  forget(session: string): void {
    this.#owners.delete(session)
  }

  ownerOf(session: string): string | undefined {
    const owner = this.#owners.get(session)
    return this.leases.isValid(owner) ? owner : undefined
  }

  /** The oldest first. */
  async orphans(limit: number): Promise<string[]> {
    const records = await this.#store.records({
      limit: Number.POSITIVE_INFINITY,
      maxBytes: Number.POSITIVE_INFINITY,
    })
    const left = records.filter((record) => isLeftOpen(record) && this.ownerOf(record.id) === undefined)
    return left
      .map(({ id }) => id)
      .reverse()
      .slice(0, limit)
  }
}

function isLeftOpen({ status, openTurn, requests, queue, single = false }: SessionRecord): boolean {
  return status !== 'ended' && (single || openTurn !== undefined || requests.length + queue.length > 0)
}

/** A node without a registration is listed for this long. */
const LISTED_MS = 86_400_000

interface Registration {
  process: string
  info: NodeInfo
  seen: number
  until: number
}

interface Sent {
  command: NodeCommand
  until: number
  outcome: string | undefined
}

/** Several servers in one process, on one memory store. */
class MemoryNodes implements NodeStore {
  readonly commits = new MemoryCommitLog()
  readonly #time: OpenTime
  readonly #sessions: Sessions
  readonly #nodes = new Map<string, Registration>()
  /** In the order they were sent. */
  readonly #commands = new Map<string, Sent>()
  readonly #arrivals = new WakeUps()
  readonly #outcomes = new WakeUps()

  constructor(time: OpenTime, sessions: Sessions) {
    this.#time = time
    this.#sessions = sessions
  }

  async register(name: string, process: string, info: NodeInfo, ttlMs: number): Promise<void> {
    const now = this.#time.now()
    const known = this.#nodes.get(name)
    if (known && known.process !== process && known.until > now) throw nameTaken(name, known.until - now)
    this.#nodes.set(name, { process, info: structuredClone(info), seen: now, until: now + ttlMs })
    for (const [other, { seen }] of this.#nodes) if (seen < now - LISTED_MS) this.#nodes.delete(other)
    for (const [id, { until }] of this.#commands) if (until < now) this.#commands.delete(id)
  }

  async leave(name: string, process: string): Promise<void> {
    if (this.#nodes.get(name)?.process === process) this.#nodes.delete(name)
  }

  async list(): Promise<readonly RegisteredNode[]> {
    const now = this.#time.now()
    return [...this.#nodes]
      .map(([name, { info, seen, until }]) => ({ ...info, name, live: until > now, seenMs: now - seen }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async ownerOf(session: string): Promise<string | undefined> {
    return this.#sessions.ownerOf(session)
  }

  async orphans(limit: number): Promise<readonly string[]> {
    return this.#sessions.orphans(limit)
  }

  async send(command: NodeCommand, ttlMs: number): Promise<void> {
    this.#commands.delete(command.id)
    this.#commands.set(command.id, {
      command: { ...command },
      until: this.#time.now() + ttlMs,
      outcome: undefined,
    })
    this.#arrivals.wake(command.node)
  }

  async pending(node: string, except: readonly string[]): Promise<readonly NodeCommand[]> {
    const now = this.#time.now()
    const known = new Set(except)
    const found = [...this.#commands.values()]
      .filter(({ until, outcome }) => outcome === undefined && until > now)
      .map(({ command }) => command)
      .filter((command) => command.node === node && !known.has(command.id))
    return [...found.filter(({ urgent }) => urgent), ...found.filter(({ urgent }) => !urgent)]
  }

  async arrived(node: string, signal: AbortSignal): Promise<void> {
    await this.#arrivals.wait(node, signal)
  }

  async settle(id: string, node: string, outcome: string): Promise<void> {
    const sent = this.#commands.get(id)
    if (sent?.command.node !== node || sent.outcome !== undefined) return
    sent.outcome = outcome
    this.#outcomes.wake(id)
  }

  async outcome(id: string, signal: AbortSignal): Promise<string | undefined> {
    for (;;) {
      const outcome = this.#commands.get(id)?.outcome
      if (outcome !== undefined || signal.aborted) return outcome
      await this.#outcomes.wait(id, signal)
    }
  }
}

type Committed = Pick<StoredCommit, 'session' | 'principal' | 'seq' | 'count'>

/** The commits of several servers in one process. A position is the number of commits, and of entries of the next. */
class MemoryCommitLog implements CommitLog {
  readonly #commits: Committed[] = []
  readonly #wakeUps = new WakeUps()

  add(commit: Committed): void {
    this.#commits.push(commit)
    this.#wakeUps.wake('commit')
  }

  async epoch(): Promise<string> {
    return '00000001'
  }

  async head(): Promise<string> {
    return `${this.#commits.length}.0`
  }

  async isBeyondHead(position: string): Promise<boolean> {
    const [commits, read] = numbersOf(position)
    return commits > this.#commits.length || read > (this.#commits[commits]?.count ?? 0)
  }

  async after(position: string, { principal }: CommitFilter = {}): Promise<readonly StoredCommit[]> {
    const [from, read] = numbersOf(position)
    const found = this.#commits.slice(from).map((commit, index) => ({
      ...commit,
      position: `${from + index}`,
      read: index === 0 ? read : 0,
    }))
    const unread = found.filter((commit) => commit.read < commit.count)
    const last = unread.at(-1)
    return unread.filter((commit) => commit === last || (principal ?? commit.principal) === commit.principal)
  }

  changed(signal: AbortSignal): Promise<void> {
    return this.#wakeUps.wait('commit', signal)
  }
}

function numbersOf(position: string): [commits: number, read: number] {
  const [commits = 0, read = 0] = position.split('.').map(Number)
  return [commits, read]
}
