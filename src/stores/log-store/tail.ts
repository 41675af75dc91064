import type { Entry } from '../../model/index.ts'
import { Waiters } from '../../model/waiters.ts'
import { fitting } from '../read-bytes.ts'

/** The entries of one commit, and their texts. */
export interface Recent {
  readonly entries: readonly Entry[]
  readonly texts: readonly string[]
  /** What it counts of the limit for recent text. */
  readonly chars: number
}

/** Readers that have caught up share it. */
const NONE: readonly never[] = []

/** The end of a log as this process knows it: the newest entries, and the readers that wait for more. */
export class Tail {
  readonly session: string
  /** The last seq that is committed. Other servers may have written more. */
  committed: number
  /** The newest committed entries, oldest batch first; they end at `committed`. */
  readonly recent: Recent[] = []
  /** Whether notifications have been seen since the head was asked for; otherwise it may be out of date. */
  isFresh = false
  /** The readers that wait for more. */
  readonly waiting = new Waiters()

  constructor(session: string, committed: number) {
    this.session = session
    this.committed = committed
  }

  get isIdle(): boolean {
    return this.recent.length === 0 && !this.hasWaiters
  }

  get hasWaiters(): boolean {
    return this.waiting.size > 0
  }

  /** Whether a reader has entries of this log and waits for more. */
  get isAwaitedBeyondStart(): boolean {
    return this.waiting.places.some((after) => after > 0)
  }

  advance(committed: number): void {
    this.committed = committed
    this.waiting.wake(committed)
  }

  /** Entries after a cursor, if the first of them is in memory. */
  entries(after: number, limit: number, maxBytes: number): readonly Entry[] | undefined {
    const from = this.indexOf(after + 1)
    if (from === undefined) return undefined
    const found: Entry[] = []
    let bytes = 0
    for (let at = from; at < this.recent.length; at++) {
      const { entries, texts } = this.recent[at] ?? { entries: NONE, texts: NONE }
      for (let index = Math.max(0, after + 1 - (entries[0]?.seq ?? 0)); index < entries.length; index++) {
        bytes += texts[index]?.length ?? 0
        if (found.length === limit || (bytes > maxBytes && found.length > 0)) return found
        const entry = entries[index]
        if (entry) found.push(entry)
      }
    }
    return found
  }

  /** The same as texts, from one commit at most. */
  texts(after: number, maxBytes: number): readonly string[] | undefined {
    const start = this.recent[this.indexOf(after + 1) ?? -1]
    if (!start) return undefined
    const skip = after + 1 - (start.entries[0]?.seq ?? 0)
    const texts = skip === 0 ? start.texts : start.texts.slice(skip)
    const count = fitting(texts, (text) => text.length, maxBytes)
    return count === texts.length ? texts : texts.slice(0, count)
  }

  /** The recent batch with this entry, if it is in memory. */
  indexOf(seq: number): number | undefined {
    if (seq > this.committed) return undefined
    for (let at = this.recent.length - 1; at >= 0; at--) {
      if ((this.recent[at]?.entries[0]?.seq ?? seq + 1) <= seq) return at
    }
    return undefined
  }
}
