import { MainstemError } from '../../model/index.ts'
import { checkContinues } from '../check-continues.ts'
import { checkFence } from '../check-fence.ts'
import { keyTaken } from '../key-taken.ts'
import { storageFailed } from '../storage-failed.ts'
import { NO_FENCE } from '../store.ts'
import { Backoff } from './backoff.ts'
import { type Database, WRITERS } from './database.ts'
import { isDuplicate, isTransient } from './failures.ts'
import type { Places } from './places.ts'
import type { PreparedBatch } from './prepared-batch.ts'
import { type Place, Run } from './run.ts'
import { commitStatement } from './statement.ts'
import { type Waiting, WorkQueue } from './work-queue.ts'

export interface CommitterDeps {
  database: Database
  places: Places
  /** The clock of a test; the database's own if there is none. */
  now: () => number | null
  committed(batch: PreparedBatch): void
}

/** A run whose place keeps changing under it is given up after so many attempts. */
const ATTEMPTS = 5

/**
 * Commits what waits, in up to `WRITERS` transactions at a time. A batch that comes while all of them run waits for the
 * next one, so the slower the disk, the larger the groups. The work of one session is done in its order, one at a time.
 */
export class Committer {
  readonly #deps: CommitterDeps
  readonly #queue = new WorkQueue()
  readonly #lanes = new Set<Promise<void>>()
  #isClosed = false

  constructor(deps: CommitterDeps) {
    this.#deps = deps
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

  /** Takes no more, and settles when nothing waits. */
  async close(): Promise<void> {
    this.#isClosed = true
    while (this.#lanes.size > 0) await Promise.all(this.#lanes)
  }

  #enqueue(asked: Pick<Waiting, 'session' | 'batch' | 'work'>): Promise<void> {
    if (this.#isClosed) return Promise.reject(new MainstemError('storage_failed', 'the store is closed'))
    return new Promise((resolve, reject) => {
      this.#queue.push({ ...asked, resolve, reject, attempts: 0, isApart: false })
      // After this tick, so that batches of the same tick are committed together.
      queueMicrotask(() => this.#startLanes())
    })
  }

  #startLanes(): void {
    while (this.#lanes.size < WRITERS) {
      const group = this.#queue.take()
      if (group.length === 0) return
      const lane = this.#run(group).finally(() => {
        this.#lanes.delete(lane)
        this.#startLanes()
      })
      this.#lanes.add(lane)
    }
  }

  async #run(group: readonly Waiting[]): Promise<void> {
    try {
      const [first] = group
      if (first?.work) {
        await first.work()
        first.resolve()
      } else await this.#commit(group)
    } catch (thrown) {
      this.#fail(group, storageFailed('cannot write to the store', thrown))
    } finally {
      this.#queue.done(group)
    }
  }

  /** Work behind a failed batch was numbered as if that had succeeded, so it fails too. */
  #fail(group: readonly Waiting[], error: MainstemError): void {
    const sessions = new Set(group.map(({ session }) => session))
    for (const session of sessions) this.#deps.places.forget(session)
    const behind = error.code === 'storage_failed' ? this.#queue.drop(sessions) : []
    for (const { reject } of [...group, ...behind]) reject(error)
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const runs = runsOf(group)
    await this.#deps.places.load(runs.flatMap(({ run }) => (run.batches[0]?.begin ? [] : run.session)))
    const ready: Running[] = []
    for (const running of runs) {
      const { run } = running
      run.place = run.batches[0]?.begin ? undefined : this.#deps.places.get(run.session)
      const cannotBegin = !run.place && (run.fence !== NO_FENCE || (run.after ?? 0) > 0)
      if (cannotBegin) this.#settleRefused(running, undefined, new Set())
      else ready.push(running)
    }
    const accepted = await this.#write(ready.map(({ run }) => run))
    const refused = ready.filter(({ run }) => !accepted.has(run.session))
    for (const running of ready) if (accepted.has(running.run.session)) this.#settleCommitted(running)
    if (refused.length > 0) await this.#explain(refused)
  }

  /** The sessions whose runs were accepted. A broken connection leaves them in doubt, and they are sent again. */
  async #write(runs: readonly Run[]): Promise<ReadonlySet<string>> {
    if (runs.length === 0) return new Set()
    const { database, now } = this.#deps
    const { sql, values } = commitStatement(runs, now())
    const backoff = new Backoff(database.patienceMs, database.closed)
    for (;;) {
      try {
        const { rows } = await database.write(sql, values)
        const ids = new Set(rows.map(({ id }) => id))
        return new Set(runs.filter((run) => ids.has(run.id)).map(({ session }) => session))
      } catch (thrown) {
        // Another server took one of the keys at the same moment. Nothing was written; each run is asked by itself.
        if (isDuplicate(thrown) && runs.length > 1) return this.#writeEach(runs)
        if (isDuplicate(thrown)) return new Set()
        if (!isTransient(thrown)) throw thrown
        for (const run of runs) run.inDoubt = true
        if (!(await backoff.wait())) throw thrown
      }
    }
  }

  async #writeEach(runs: readonly Run[]): Promise<ReadonlySet<string>> {
    const accepted = new Set<string>()
    for (const run of runs) for (const session of await this.#write([run])) accepted.add(session)
    return accepted
  }

  #settleCommitted({ run, waiting }: Running): void {
    this.#deps.places.set(run.session, run.outcome)
    for (const batch of run.batches) this.#deps.committed(batch)
    for (const { resolve } of waiting) resolve()
  }

  /** Finds out why runs were refused, and whether those in doubt are in fact stored. */
  async #explain(refused: readonly Running[]): Promise<void> {
    const { database, places } = this.#deps
    for (const { run } of refused) places.forget(run.session)
    await places.load(refused.map(({ run }) => run.session))
    const keys = refused.flatMap(({ run }) =>
      run.batches.flatMap(({ receipts }) => receipts.map(({ id }) => id)),
    )
    const rows =
      keys.length === 0
        ? []
        : await database.read('SELECT id FROM @receipt WHERE id = ANY($1::text[])', [keys])
    const taken = new Set(rows.map(({ id }) => String(id)))
    for (const running of refused) this.#settleRefused(running, places.get(running.run.session), taken)
  }

  #settleRefused(running: Running, place: Place | undefined, taken: ReadonlySet<string>): void {
    const { run, waiting } = running
    const [batch] = run.batches
    const [only] = waiting
    if (run.inDoubt && place && isApplied(run, place)) this.#settleCommitted(running)
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

interface Running {
  run: Run
  waiting: Waiting[]
}

function runsOf(group: readonly Waiting[]): Running[] {
  const runs = new Map<string, Running>()
  for (const waiting of group) {
    const { batch } = waiting
    if (!batch) continue
    const running = runs.get(batch.session)
    if (running) {
      running.run.add(batch)
      running.waiting.push(waiting)
    } else runs.set(batch.session, { run: new Run(batch), waiting: [waiting] })
  }
  return [...runs.values()]
}

/** Only the holder of the fence could have written, and it wrote nothing else since. */
function isApplied(run: Run, place: Place): boolean {
  const { fence, writes } = run.outcome
  if (place.fence === fence) return place.writes === writes
  // Another owner has the session: the next lease shows which writes were stored.
  return place.fence === fence + 1 && place.inherited >= writes
}

/** Why the database refused a batch. Without a reason, what this process knew was out of date. */
function reasonToRefuse(batch: PreparedBatch, place: Place | undefined, taken: ReadonlySet<string>): unknown {
  const { session, entries, fence, begin, receipts } = batch
  const key = receipts.find(({ id }) => taken.has(id))
  try {
    // An existing session is a conflict, whatever its lease.
    if (begin && !key) checkContinues(session, place?.head ?? 0, entries)
    if (!begin || !key) checkFence(session, place?.fence ?? NO_FENCE, fence)
    if (key) throw keyTaken(JSON.parse(key.text))
    checkContinues(session, place?.head ?? 0, entries)
    return undefined
  } catch (reason) {
    return reason
  }
}

function busy(session: string): MainstemError {
  return new MainstemError('storage_failed', `session ${session} is changed by other servers all the time`)
}
