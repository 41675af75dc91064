import type { SessionPlace } from './backend.ts'
import type { PreparedBatch } from './prepared-batch.ts'
import { CommitRun } from './run.ts'

/** The limits of text and sessions per transaction. */
const GROUP_CHARS = 8 * 1024 * 1024
const GROUP_BATCHES = 1024

/** Queued work on a session: a batch, or other work that runs alone. */
export interface Waiting {
  session: string
  batch?: PreparedBatch
  work?: () => Promise<void>
  attempts: number
  /** Committed by itself, because it was refused together with others. */
  isApart: boolean
  /** Whether it reserves its session and its keys. */
  isTaken: boolean
  resolve(): void
  reject(error: unknown): void
}

/** A run, and the work that waits for its commit. */
export interface Running<P extends SessionPlace> {
  run: CommitRun<P>
  waiting: Waiting[]
}

/** Work to be done at the same time: runs that are committed together, or one piece of other work. */
export interface Taken<P extends SessionPlace> {
  all: readonly Waiting[]
  runs: readonly Running<P>[]
}

/** The queue of work, in order. Work that was taken reserves its session and its keys until it is done. */
export class WorkQueue<P extends SessionPlace> {
  #waiting: Waiting[] = []
  readonly #busy = new Set<string>()
  readonly #keys = new Set<string>()

  isBusy(session: string): boolean {
    return this.#busy.has(session)
  }

  push(waiting: Waiting): void {
    this.#waiting.push(waiting)
  }

  /** Puts work back to run alone, before all other work of its session. */
  retry(waiting: readonly Waiting[]): void {
    for (const one of waiting) {
      one.attempts++
      one.isApart = true
    }
    this.#waiting.unshift(...waiting)
  }

  /** Takes batches that can be committed together, or one piece of other work; empty if all work must wait. */
  take(): Taken<P> {
    const group = new Group<P>(this.#busy, this.#keys)
    const left: Waiting[] = []
    for (const waiting of this.#waiting) if (!group.add(waiting)) left.push(waiting)
    this.#waiting = left
    for (const waiting of group.taken) {
      const { session, batch } = waiting
      waiting.isTaken = true
      this.#busy.add(session)
      for (const { id } of batch?.receipts ?? []) this.#keys.add(id)
    }
    return { all: group.taken, runs: [...group.runs.values()] }
  }

  /** Ends the reservations of work; once is enough. */
  done(group: readonly Waiting[]): void {
    for (const waiting of group) {
      if (!waiting.isTaken) continue
      waiting.isTaken = false
      const { session, batch } = waiting
      this.#busy.delete(session)
      for (const { id } of batch?.receipts ?? []) this.#keys.delete(id)
    }
  }

  /** Removes the queued work of these sessions. */
  drop(sessions: ReadonlySet<string>): Waiting[] {
    const dropped = this.#waiting.filter(({ session }) => sessions.has(session))
    this.#waiting = this.#waiting.filter(({ session }) => !sessions.has(session))
    return dropped
  }
}

class Group<P extends SessionPlace> {
  readonly taken: Waiting[] = []
  readonly #busy: ReadonlySet<string>
  readonly #keys: Set<string>
  readonly runs = new Map<string, Running<P>>()
  /** Sessions with work that must wait. Later work of the same session must not overtake it. */
  readonly #blocked = new Set<string>()
  #chars = 0
  #isFull = false

  constructor(busy: ReadonlySet<string>, keys: ReadonlySet<string>) {
    this.#busy = busy
    this.#keys = new Set(keys)
  }

  /** Whether it was taken. */
  add(waiting: Waiting): boolean {
    const { session, batch } = waiting
    if (this.#isFull || this.#busy.has(session) || this.#blocked.has(session)) return false
    if (batch ? this.#addBatch(waiting, batch) : this.#addWork(waiting)) return true
    this.#blocked.add(session)
    return false
  }

  #addWork(waiting: Waiting): boolean {
    if (this.taken.length > 0) return false
    this.taken.push(waiting)
    this.#isFull = true
    return true
  }

  #addBatch(waiting: Waiting, batch: PreparedBatch): boolean {
    if (batch.receipts.some(({ id }) => this.#keys.has(id))) return false
    const running = this.runs.get(batch.session)
    if (running && (waiting.isApart || !running.run.add(batch))) return false
    if (running) running.waiting.push(waiting)
    else this.runs.set(batch.session, { run: new CommitRun(batch), waiting: [waiting] })
    for (const { id } of batch.receipts) this.#keys.add(id)
    this.taken.push(waiting)
    if (waiting.isApart) this.#blocked.add(batch.session)
    this.#chars += batch.chars
    this.#isFull = this.#chars >= GROUP_CHARS || this.taken.length >= GROUP_BATCHES
    return true
  }
}
