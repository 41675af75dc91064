import type { Entry } from '../../model/index.ts'
import { fitting } from '../read-bytes.ts'
import { NO_FENCE } from '../store.ts'

/** Where a log is in the database: the number of its session, the last seq, and its lease. */
export interface Place {
  n: number
  head: number
  fence: number
  owner: string | undefined
}

/** Entries that were committed together, and their texts. */
export interface Recent {
  readonly entries: readonly Entry[]
  readonly texts: readonly string[]
}

/** What this process knows of a log that is being written or waited for. */
export class LiveLog {
  readonly session: string
  /** Undefined while the session has no row. */
  n: number | undefined
  /** The last seq that was given out, and the last that is committed. */
  head: number
  committed: number
  /** The lease with all batches that were given a place; `owner` is undefined while nobody has one. */
  fence: number
  owner: string | undefined
  /** False after a failure: what was given out may not be there. */
  known = true
  /** Batches on their way. */
  pending = 0
  /** The newest committed entries, oldest batch first; they end at `committed`. */
  readonly recent: Recent[] = []
  readonly #waiting = new Map<() => void, number>()

  constructor(session: string, place: Place | undefined) {
    this.session = session
    this.n = place?.n
    this.head = place?.head ?? 0
    this.fence = place?.fence ?? NO_FENCE
    this.owner = place?.owner
    this.committed = this.head
  }

  get isIdle(): boolean {
    return this.pending === 0 && this.recent.length === 0 && this.#waiting.size === 0
  }

  /** Takes what the database says instead of what was believed. */
  place(place: Place | undefined): void {
    this.n = place?.n
    this.head = place?.head ?? 0
    this.fence = place?.fence ?? NO_FENCE
    this.owner = place?.owner
    this.known = true
    // Recent entries have to end where the log does, or a reader would miss what lies between.
    if (this.head !== this.committed) this.recent.length = 0
    this.advance(this.head)
  }

  advance(committed: number): void {
    this.committed = committed
    for (const [wake, after] of this.#waiting) if (committed > after) wake()
  }

  wait(after: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.set(wake, after)
      signal.addEventListener('abort', wake)
    })
  }

  wakeAll(): void {
    for (const wake of this.#waiting.keys()) wake()
  }

  /** Entries after a cursor, if the first of them is still here. */
  recentEntries(after: number, limit: number, maxBytes: number): readonly Entry[] | undefined {
    if (after >= this.committed) return []
    const from = this.#recentWith(after + 1)
    if (from < 0) return undefined
    const found: Entry[] = []
    let bytes = 0
    for (const { entries, texts } of this.recent.slice(from)) {
      for (let index = Math.max(0, after + 1 - (entries[0]?.seq ?? 0)); index < entries.length; index++) {
        bytes += texts[index]?.length ?? 0
        if (found.length === limit || (bytes > maxBytes && found.length > 0)) return found
        const entry = entries[index]
        if (entry) found.push(entry)
      }
    }
    return found
  }

  /** The same as texts, and no more of them than were committed together. */
  recentTexts(after: number, maxBytes: number): readonly string[] | undefined {
    if (after >= this.committed) return []
    const start = this.recent[this.#recentWith(after + 1)]
    if (!start) return undefined
    const skip = after + 1 - firstSeq(start)
    const texts = skip === 0 ? start.texts : start.texts.slice(skip)
    const count = fitting(texts, (text) => text.length, maxBytes)
    return count === texts.length ? texts : texts.slice(0, count)
  }

  /** Whether a read after this cursor needs nothing from the database. */
  hasRecent(after: number): boolean {
    return after >= this.committed || this.#recentWith(after + 1) >= 0
  }

  #recentWith(seq: number): number {
    return this.recent.findLastIndex((batch) => firstSeq(batch) <= seq)
  }
}

function firstSeq({ entries }: Recent): number {
  return entries[0]?.seq ?? 0
}
