import { MainstemError } from '../../model/index.ts'
import { checkContinues, checkFence, keyTaken, storageFailed } from '../refusals.ts'
import { NO_FENCE } from '../store.ts'
import type { Backend, SessionPlace } from './backend.ts'
import { type Running, type Taken, takeGroup, type Waiting } from './commit-run.ts'
import type { Places } from './places.ts'
import type { PreparedBatch } from './prepared-batch.ts'
import { Tails } from './tails.ts'

/** A run whose place keeps changing under it is given up after so many attempts. */
const ATTEMPTS = 5

const NO_KEYS: ReadonlySet<string> = new Set()

/**
 * Commits what waits, in as many transactions at a time as the database has lanes. A batch that comes while all of them
 * run waits for the next one, so the slower the disk, the larger the groups. The work of one session is done in its order,
 * one at a time.
 */
export class GroupCommit<P extends SessionPlace> {
  /** The ends of the logs, which commits move. */
  readonly tails: Tails
  /** Whether the last commit failed. */
  isFailing = false
  readonly #backend: Backend<P>
  readonly #places: Places<P>
  #queue: Waiting[] = []
  /** The sessions and keys of work that is under way. */
  readonly #reserved = { sessions: new Set<string>(), keys: new Set<string>() }
  readonly #lanes = new Set<Promise<void>>()
  #isStarting = false
  #isClosed = false

  /** `headOf` reads the head of a log from the database. */
  constructor(backend: Backend<P>, places: Places<P>, headOf: (session: string) => Promise<number>) {
    this.#backend = backend
    this.#places = places
    const ownHead = this.ownHead.bind(this)
    this.tails = new Tails({ isShared: backend.follow !== undefined, headOf, ownHead })
  }

  /**
   * The head of a session that only this process can write to; undefined if the database has to be asked. That is so during a
   * commit as well: the database may show its entries already, in a record or to other servers.
   */
  ownHead(session: string): number | undefined {
    if (this.#reserved.sessions.has(session)) return undefined
    const place = this.#places.get(session)
    return place && this.#backend.isOwn(place) ? place.head : undefined
  }

  /** Settles when a batch is committed, or other work is done. */
  add(asked: Pick<Waiting, 'session' | 'batch' | 'work'>): Promise<void> {
    if (this.#isClosed) return Promise.reject(new MainstemError('storage_failed', 'the store is closed'))
    return new Promise((resolve, reject) => {
      this.#queue.push({ ...asked, resolve, reject, attempts: 0, isTaken: false })
      // After this tick, so that batches of the same tick are committed together.
      if (!this.#isStarting) queueMicrotask(() => this.#startLanes())
      this.#isStarting = true
    })
  }

  /** Does something with a session after everything that was asked of it before. */
  alone<T>(session: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = this.add({ session, work: async () => resolve(await work()) })
      done.catch(reject)
    })
  }

  /** Takes no more, and settles when nothing waits. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#startLanes()
    while (this.#lanes.size > 0) await Promise.all(this.#lanes)
  }

  #startLanes(): void {
    this.#isStarting = false
    while (this.#lanes.size < this.#backend.lanes) {
      const group = takeGroup<P>(this.#queue, this.#reserved)
      if (group.all.length === 0) return
      this.#queue = group.left
      for (const waiting of group.all) {
        waiting.isTaken = true
        this.#reserved.sessions.add(waiting.session)
        for (const { id } of waiting.batch?.receipts ?? []) this.#reserved.keys.add(id)
      }
      const lane = this.#run(group).finally(() => {
        this.#lanes.delete(lane)
        this.#startLanes()
      })
      this.#lanes.add(lane)
    }
  }

  /** Ends the reservations of work; once is enough. */
  #free(all: readonly Waiting[]): void {
    for (const waiting of all) {
      if (!waiting.isTaken) continue
      waiting.isTaken = false
      this.#reserved.sessions.delete(waiting.session)
      for (const { id } of waiting.batch?.receipts ?? []) this.#reserved.keys.delete(id)
    }
  }

  async #run({ all, runs }: Taken<P>): Promise<void> {
    try {
      const [first] = all
      if (first?.work) {
        await first.work()
        first.resolve()
      } else await this.#commit([...runs.values()])
    } catch (thrown) {
      this.#fail(all, storageFailed('cannot write to the store', thrown))
    } finally {
      this.#free(all)
    }
  }

  /** Work behind a failed batch was numbered as if that had succeeded, so it fails too. */
  #fail(group: readonly Waiting[], error: MainstemError): void {
    const sessions = new Set(group.map(({ session }) => session))
    for (const session of sessions) this.#places.forget(session)
    this.isFailing = true
    // They may be stored or not.
    this.tails.recheck(sessions)
    const isBehind = ({ session }: Waiting) => error.code === 'storage_failed' && sessions.has(session)
    const behind = this.#queue.filter(isBehind)
    this.#queue = this.#queue.filter((waiting) => !isBehind(waiting))
    for (const { reject } of [...group, ...behind]) reject(error)
  }

  async #commit(runs: readonly Running<P>[]): Promise<void> {
    const ready = await this.#ready(runs)
    if (ready.length === 0) return
    const accepted = await this.#backend.commit(ready)
    const refused: Running<P>[] = []
    for (const run of ready) {
      if (accepted.has(run.session)) this.#settleCommitted(run)
      else refused.push(run)
    }
    if (refused.length > 0) await this.#explain(refused)
  }

  /** The runs that the database can be asked for. */
  async #ready(runs: readonly Running<P>[]): Promise<readonly Running<P>[]> {
    const unknown = runs.filter((run) => !run.begins && !this.#places.get(run.session))
    if (unknown.length > 0) await this.#places.load(unknown)
    const ready: Running<P>[] = []
    for (const run of runs) {
      run.place = run.begins ? undefined : this.#places.get(run.session)
      const cannotBegin = !run.place && (run.fence !== NO_FENCE || (run.after ?? 0) > 0)
      const isReady = !cannotBegin && (run.begins || !this.#places.damageOf(run.session))
      if (isReady) ready.push(run)
      else this.#settleRefused(run, undefined, NO_KEYS)
    }
    return ready
  }

  #settleCommitted(run: Running<P>): void {
    this.#places.set(run.session, this.#backend.placeAfter(run))
    // Before anyone is woken: readers find the head in memory.
    this.#free(run.waiting)
    this.isFailing = false
    for (const batch of run.batches) this.tails.committed(batch)
    this.#backend.committed(run.session)
    if (run.batches.some(({ calls }) => calls.length > 0)) this.#backend.calls.wake()
    for (const { resolve } of run.waiting) resolve()
  }

  /** Finds out why runs were refused, and whether those in doubt are in fact stored. */
  async #explain(refused: readonly Running<P>[]): Promise<void> {
    for (const { session } of refused) this.#places.forget(session)
    await this.#places.load(refused)
    const taken = new Set<string>()
    for (const run of refused) {
      for (const { id } of run.batches.flatMap(({ receipts }) => receipts)) {
        if (await this.#backend.rows.receipt(id)) taken.add(id)
      }
    }
    for (const run of refused) this.#settleRefused(run, this.#places.get(run.session), taken)
  }

  #settleRefused(run: Running<P>, place: P | undefined, taken: ReadonlySet<string>): void {
    const { waiting } = run
    const damage = this.#places.damageOf(run.session)
    const [batch] = run.batches
    const [only] = waiting
    if (damage) for (const { reject } of waiting) reject(damage)
    else if (run.inDoubt && place && this.#backend.isApplied(run, place)) this.#settleCommitted(run)
    // One of several is at fault; asked by themselves the others succeed.
    else if (waiting.length > 1 || !batch || !only) this.#retry(waiting)
    else {
      const reason = reasonToRefuse(batch, place, taken)
      if (reason !== undefined) only.reject(reason)
      else if (only.attempts < ATTEMPTS) this.#retry(waiting)
      else only.reject(busy(run.session))
    }
  }

  /** Puts work back to be done alone, before all other work of its session. */
  #retry(waiting: readonly Waiting[]): void {
    for (const one of waiting) one.attempts++
    this.#queue.unshift(...waiting)
  }
}

/** Why the database refused a batch. Without a reason, what this process knew was out of date. */
function reasonToRefuse(
  batch: PreparedBatch,
  place: SessionPlace | undefined,
  taken: ReadonlySet<string>,
): unknown {
  const { session, entries, fence, begin, receipts } = batch
  const key = receipts.find(({ id }) => taken.has(id))
  try {
    // An existing session is a conflict, whatever its lease.
    if (begin && !key) checkContinues(session, place?.head ?? 0, entries)
    if (!begin || !key) checkFence(session, place?.fence ?? NO_FENCE, fence)
    if (key) throw keyTaken(JSON.parse(key.body))
    checkContinues(session, place?.head ?? 0, entries)
    return undefined
  } catch (reason) {
    return reason
  }
}

function busy(session: string): MainstemError {
  return new MainstemError('storage_failed', `session ${session} is changed by other servers all the time`)
}
