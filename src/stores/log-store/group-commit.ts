import { MainstemError } from '../../model/index.ts'
import { checkContinues, checkFence, keyTaken } from '../refusals.ts'
import { storageFailed } from '../storage-failed.ts'
import { NO_FENCE } from '../store.ts'
import type { Backend, SessionPlace } from './backend.ts'
import type { Places } from './places.ts'
import type { PreparedBatch } from './prepared-batch.ts'
import { type Running, type Taken, type Waiting, WorkQueue } from './work-queue.ts'

interface Listeners {
  /** Called with each batch after its commit, before its caller gets the answer. */
  committed(batch: PreparedBatch): void
  /** Called with sessions whose last commit failed, and may be stored or not. */
  failed(sessions: ReadonlySet<string>): void
}

/** A run whose place keeps changing under it is given up after so many attempts. */
const ATTEMPTS = 5

/**
 * Commits what waits, in as many transactions at a time as the database has lanes. A batch that comes while all of them
 * run waits for the next one, so the slower the disk, the larger the groups. The work of one session is done in its order,
 * one at a time.
 */
export class GroupCommit<P extends SessionPlace> {
  readonly #backend: Backend<P>
  readonly #places: Places<P>
  readonly #listeners: Listeners
  readonly #queue = new WorkQueue<P>()
  readonly #lanes = new Set<Promise<void>>()
  #isStarting = false
  #isClosed = false

  constructor(backend: Backend<P>, places: Places<P>, listeners: Listeners) {
    this.#backend = backend
    this.#places = places
    this.#listeners = listeners
  }

  /** Settles when the batch is committed. */
  commit(batch: PreparedBatch): Promise<void> {
    return this.#enqueue({ session: batch.session, batch })
  }

  /** Does something with a session after everything that was asked of it before. */
  alone<T>(session: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = this.#enqueue({ session, work: async () => resolve(await work()) })
      done.catch(reject)
    })
  }

  /** Whether work on a session is under way. */
  isBusy(session: string): boolean {
    return this.#queue.isBusy(session)
  }

  /** Takes no more, and settles when nothing waits. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#startLanes()
    while (this.#lanes.size > 0) await Promise.all(this.#lanes)
  }

  #enqueue(asked: Pick<Waiting, 'session' | 'batch' | 'work'>): Promise<void> {
    if (this.#isClosed) return Promise.reject(new MainstemError('storage_failed', 'the store is closed'))
    return new Promise((resolve, reject) => {
      this.#queue.push({ ...asked, resolve, reject, attempts: 0, isApart: false, isTaken: false })
      // After this tick, so that batches of the same tick are committed together.
      if (!this.#isStarting) queueMicrotask(() => this.#startLanes())
      this.#isStarting = true
    })
  }

  #startLanes(): void {
    this.#isStarting = false
    while (this.#lanes.size < this.#backend.lanes) {
      const group = this.#queue.take()
      if (group.all.length === 0) return
      const lane = this.#run(group).finally(() => {
        this.#lanes.delete(lane)
        this.#startLanes()
      })
      this.#lanes.add(lane)
    }
  }

  async #run({ all, runs }: Taken<P>): Promise<void> {
    try {
      const [first] = all
      if (first?.work) {
        await first.work()
        first.resolve()
      } else await this.#commit(runs)
    } catch (thrown) {
      this.#fail(all, storageFailed('cannot write to the store', thrown))
    } finally {
      this.#queue.done(all)
    }
  }

  /** Work behind a failed batch was numbered as if that had succeeded, so it fails too. */
  #fail(group: readonly Waiting[], error: MainstemError): void {
    const sessions = new Set(group.map(({ session }) => session))
    for (const session of sessions) this.#places.forget(session)
    this.#listeners.failed(sessions)
    const behind = error.code === 'storage_failed' ? this.#queue.drop(sessions) : []
    for (const { reject } of [...group, ...behind]) reject(error)
  }

  async #commit(runs: readonly Running<P>[]): Promise<void> {
    const ready = await this.#ready(runs)
    if (ready.length === 0) return
    const accepted = await this.#backend.commit(ready.map(({ run }) => run))
    const refused = ready.filter(({ run }) => !accepted.has(run.session))
    for (const running of ready) if (accepted.has(running.run.session)) this.#settleCommitted(running)
    if (refused.length > 0) await this.#explain(refused)
  }

  /** The runs that the database can be asked for. */
  async #ready(runs: readonly Running<P>[]): Promise<Running<P>[]> {
    await this.#places.load(runs.flatMap(({ run }) => (run.begins ? [] : run.session)))
    return runs.filter((running) => {
      const { run } = running
      run.place = run.begins ? undefined : this.#places.get(run.session)
      const cannotBegin = !run.place && (run.fence !== NO_FENCE || (run.after ?? 0) > 0)
      const isReady = !cannotBegin && (run.begins || !this.#places.damageOf(run.session))
      if (!isReady) this.#settleRefused(running, undefined, new Set())
      return isReady
    })
  }

  #settleCommitted({ run, waiting }: Running<P>): void {
    this.#places.set(run.session, this.#backend.placeAfter(run))
    // Before anyone is woken: readers find the head in memory.
    this.#queue.done(waiting)
    for (const batch of run.batches) this.#listeners.committed(batch)
    this.#backend.committed(run.session)
    for (const { resolve } of waiting) resolve()
  }

  /** Finds out why runs were refused, and whether those in doubt are in fact stored. */
  async #explain(refused: readonly Running<P>[]): Promise<void> {
    for (const { run } of refused) this.#places.forget(run.session)
    await this.#places.load(refused.map(({ run }) => run.session))
    const taken = new Set<string>()
    for (const { run } of refused) {
      for (const { id } of run.batches.flatMap(({ receipts }) => receipts)) {
        if (await this.#backend.rows.receipt(id)) taken.add(id)
      }
    }
    for (const running of refused) this.#settleRefused(running, this.#places.get(running.run.session), taken)
  }

  #settleRefused(running: Running<P>, place: P | undefined, taken: ReadonlySet<string>): void {
    const { run, waiting } = running
    const damage = this.#places.damageOf(run.session)
    const [batch] = run.batches
    const [only] = waiting
    if (damage) for (const { reject } of waiting) reject(damage)
    else if (run.inDoubt && place && this.#backend.isApplied(run, place)) this.#settleCommitted(running)
    // One of several is at fault; asked by themselves the others succeed.
    else if (waiting.length > 1 || !batch || !only) this.#queue.retry(waiting)
    else {
      const reason = reasonToRefuse(batch, place, taken)
      if (reason !== undefined) only.reject(reason)
      else if (only.attempts < ATTEMPTS) this.#queue.retry(waiting)
      else only.reject(busy(run.session))
    }
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
