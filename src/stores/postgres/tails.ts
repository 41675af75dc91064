import type { Entry } from '../../model/index.ts'
import { RecentBatches } from '../recent-batches.ts'
import { RecentLog } from '../recent-log.ts'
import type { PreparedBatch } from './prepared-batch.ts'

/** So many logs that are not in use are remembered. */
const IDLE_TAILS = 4096

/** The end of a log as this process knows it. Other servers may have written more. */
class Tail extends RecentLog {
  /** Whether notifications have been seen since the head was asked for; otherwise it may be out of date. */
  isFresh = false
}

/** The ends of logs that this process writes or reads: recent entries, and who waits for more. */
export class Tails {
  readonly #headOf: (session: string) => Promise<number>
  readonly #tails = new Map<string, Tail>()
  readonly #recent = new RecentBatches<Tail>(() => this.#forgetIdle())

  constructor(headOf: (session: string) => Promise<number>) {
    this.#headOf = headOf
  }

  /** The sessions that somebody waits for. */
  get awaited(): string[] {
    return [...this.#tails.values()].flatMap((tail) => (tail.hasWaiters ? tail.session : []))
  }

  /** Adds entries that are committed, and wakes those who wait for them. */
  committed({ session, entries, texts, chars }: PreparedBatch): void {
    const [first] = entries
    const last = entries.at(-1)
    if (!first || !last) return
    const tail = this.#tails.get(session) ?? this.#add(session, first.seq - 1)
    // Recent entries have to follow each other, or a reader would miss what lies between.
    if (tail.committed !== first.seq - 1) tail.recent.length = 0
    this.#recent.keep(tail, { entries, texts }, chars)
    tail.advance(last.seq)
  }

  /** Entries after a cursor if they are in memory; the database knows everything else. */
  recentEntries(
    session: string,
    after: number,
    limit: number,
    maxBytes: number,
  ): readonly Entry[] | undefined {
    return this.#behind(session, after)?.recentEntries(after, limit, maxBytes)
  }

  recentTexts(session: string, after: number, maxBytes: number): readonly string[] | undefined {
    return this.#behind(session, after)?.recentTexts(after, maxBytes)
  }

  hasRecent(session: string, after: number): boolean {
    return this.#behind(session, after)?.hasRecent(after) ?? false
  }

  /** Settles when the head is beyond `after`, or when the signal fires. */
  async changed(session: string, after: number, signal: AbortSignal): Promise<void> {
    const tail = this.#tails.get(session) ?? this.#add(session, 0)
    if (tail.committed > after || signal.aborted) return
    // Waits before it asks: a commit in between wakes it.
    const left = new AbortController()
    const woken = tail.wait(after, AbortSignal.any([signal, left.signal]))
    try {
      if (!tail.isFresh) await this.refresh(session)
      await woken
    } finally {
      left.abort()
    }
  }

  /** Asks for the head of a log that may have grown elsewhere. */
  async refresh(session: string): Promise<void> {
    const tail = this.#tails.get(session)
    if (!tail) return
    tail.isFresh = true
    try {
      this.advance(session, await this.#headOf(session))
    } catch (thrown) {
      tail.isFresh = false
      throw thrown
    }
  }

  /** Another server has written: whoever waits is told, and whoever comes asks for the head. */
  distrust(session: string): boolean {
    const tail = this.#tails.get(session)
    if (tail) tail.isFresh = false
    return tail?.hasWaiters ?? false
  }

  distrustAll(): void {
    for (const tail of this.#tails.values()) tail.isFresh = false
  }

  /** The head as the database has it. */
  advance(session: string, head: number): void {
    const tail = this.#tails.get(session)
    if (!tail) return
    // Another server has deleted it: those who wait for more of it look for themselves.
    const isDeleted = head === 0 && (tail.committed > 0 || tail.isAwaitedBeyondStart)
    if (isDeleted) this.forget(session)
    if (head <= tail.committed) return
    tail.recent.length = 0
    tail.advance(head)
  }

  /** Removes what is known about a log; those who wait look for themselves. */
  forget(session: string): void {
    const tail = this.#tails.get(session)
    this.#tails.delete(session)
    tail?.wakeAll()
  }

  close(): void {
    for (const session of [...this.#tails.keys()]) this.forget(session)
    this.#recent.clear()
  }

  #behind(session: string, after: number): Tail | undefined {
    const tail = this.#tails.get(session)
    return tail && after < tail.committed ? tail : undefined
  }

  #add(session: string, committed: number): Tail {
    const tail = new Tail(session, committed)
    this.#tails.set(session, tail)
    this.#forgetIdle()
    return tail
  }

  #forgetIdle(): void {
    if (this.#tails.size <= IDLE_TAILS) return
    for (const [session, tail] of this.#tails) {
      if (tail.isIdle) this.#tails.delete(session)
      if (this.#tails.size <= IDLE_TAILS / 2) return
    }
  }
}
