import type { Entry } from '../../model/index.ts'
import { storeClosed } from '../refusals.ts'
import type { PreparedBatch } from './prepared-batch.ts'
import { type Recent, Tail } from './tail.ts'

/** The number of cached logs that are not in use. */
const IDLE_TAILS = 4096

/**
 * The limit of recent text in memory for readers that follow closely: about half a second of hundreds of busy agents. A
 * reader that is later reads from the database, which makes it later still. Each batch also counts a fixed amount.
 */
const RECENT_CHARS = 4 * 1024 * 1024
const BATCH_CHARS = 512

interface Heads {
  /** Whether other servers may write to the logs. */
  isShared: boolean
  /** The head as the database has it. */
  headOf(session: string): Promise<number>
  /** The head, if only this process can write to the log now. */
  ownHead(session: string): number | undefined
}

type Committed = Pick<PreparedBatch, 'session' | 'entries' | 'texts' | 'chars'>

/** Readers that have caught up share it. */
const NONE: readonly never[] = []

/** The ends of logs that this process writes or reads: recent entries, and callers that wait for more. */
export class Tails {
  readonly #heads: Heads
  readonly #tails = new Map<string, Tail>()
  /** The recent batches of all logs, oldest first, and the tail that has them. */
  readonly #recent = new Map<Recent, Tail>()
  #recentChars = 0
  #isClosed = false

  constructor(heads: Heads) {
    this.#heads = heads
  }

  /** The sessions that a caller waits for. */
  get awaited(): string[] {
    return [...this.#tails.values()].flatMap((tail) => (tail.hasWaiters ? tail.session : []))
  }

  /** Adds committed entries, and wakes the callers that wait for them. */
  committed({ session, entries, texts, chars }: Committed): void {
    const [first] = entries
    if (!first) return
    const tail = this.#tails.get(session) ?? this.#add(session, first.seq - 1)
    // Recent entries must be contiguous, or a reader would miss entries.
    if (tail.committed !== first.seq - 1) this.#evictAll(tail)
    const batch = { entries, texts, chars: chars + BATCH_CHARS }
    tail.recent.push(batch)
    this.#recent.set(batch, tail)
    this.#recentChars += batch.chars
    // The newest batch stays, however large: readers are about to read it.
    while (this.#recentChars > RECENT_CHARS && this.#recent.size > 1) this.#evictOldest()
    tail.advance(first.seq - 1 + entries.length)
  }

  /** Entries after a cursor, if they are in memory; undefined means that they must be read from the database. */
  entries(session: string, after: number, limit: number, maxBytes: number): readonly Entry[] | undefined {
    return this.#isAtHead(session, after) ? NONE : this.#tails.get(session)?.entries(after, limit, maxBytes)
  }

  texts(session: string, after: number, maxBytes: number): readonly string[] | undefined {
    return this.#isAtHead(session, after) ? NONE : this.#tails.get(session)?.texts(after, maxBytes)
  }

  has(session: string, after: number): boolean {
    return this.#isAtHead(session, after) || this.#tails.get(session)?.indexOf(after + 1) !== undefined
  }

  /** Settles when the head is beyond `after`, or when the signal fires. */
  async changed(session: string, after: number, signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw storeClosed()
    const tail = this.#tails.get(session) ?? this.#add(session, 0)
    if (tail.committed > after || signal.aborted) return
    if (tail.isFresh) return tail.waiting.wait(signal, after)
    // Waits before it reads the head, so that a commit in between wakes it.
    const left = new AbortController()
    const woken = tail.waiting.wait(AbortSignal.any([signal, left.signal]), after)
    try {
      await this.refresh(session)
      await woken
    } finally {
      left.abort()
    }
  }

  /** Reads the head of a log that another server may have extended. */
  async refresh(session: string): Promise<void> {
    const tail = this.#tails.get(session)
    if (!tail) return
    tail.isFresh = true
    try {
      this.advance(session, await this.#heads.headOf(session))
    } catch (thrown) {
      tail.isFresh = false
      throw thrown
    }
  }

  /** Another server has written: wakes waiting callers, and has later ones read the head again. */
  distrust(session: string): boolean {
    const tail = this.#tails.get(session)
    if (tail) tail.isFresh = false
    return tail?.hasWaiters ?? false
  }

  distrustAll(): void {
    for (const tail of this.#tails.values()) tail.isFresh = false
  }

  /** Commits failed that may be stored: reads the heads again for callers that wait. */
  recheck(sessions: Iterable<string>): void {
    for (const session of sessions) {
      // The caller that reads next gets the error of a database that cannot be read.
      if (this.distrust(session)) this.refresh(session).catch(() => undefined)
    }
  }

  /** The head as the database has it. */
  advance(session: string, head: number): void {
    const tail = this.#tails.get(session)
    if (!tail) return
    // Another server has deleted the log: wakes its waiting callers, which check for it.
    const isDeleted = this.#heads.isShared && head === 0 && (tail.committed > 0 || tail.isAwaitedBeyondStart)
    if (isDeleted) this.forget(session)
    if (head <= tail.committed) return
    this.#evictAll(tail)
    tail.advance(head)
  }

  /** Removes a log from the cache and wakes its waiting callers, which check for it. */
  forget(session: string): void {
    const tail = this.#tails.get(session)
    if (!tail) return
    this.#tails.delete(session)
    this.#evictAll(tail)
    tail.waiting.wake()
  }

  /** Wakes all waiting callers, and refuses later ones. */
  close(): void {
    this.#isClosed = true
    for (const session of [...this.#tails.keys()]) this.forget(session)
  }

  /** Whether a reader has all entries, without asking the database. */
  #isAtHead(session: string, after: number): boolean {
    return this.#heads.ownHead(session) === after
  }

  #add(session: string, committed: number): Tail {
    const tail = new Tail(session, committed)
    this.#tails.set(session, tail)
    this.#forgetIdle()
    return tail
  }

  #evictOldest(): void {
    const [oldest] = this.#recent
    if (!oldest) return
    const [batch, tail] = oldest
    this.#evict(batch)
    tail.recent.shift()
    this.#forgetIdle()
  }

  #evictAll(tail: Tail): void {
    for (const batch of tail.recent) this.#evict(batch)
    tail.recent.length = 0
  }

  #evict(batch: Recent): void {
    this.#recent.delete(batch)
    this.#recentChars -= batch.chars
  }

  #forgetIdle(): void {
    if (this.#tails.size <= IDLE_TAILS) return
    for (const [session, tail] of this.#tails) {
      if (tail.isIdle) this.#tails.delete(session)
      if (this.#tails.size <= IDLE_TAILS / 2) return
    }
  }
}
