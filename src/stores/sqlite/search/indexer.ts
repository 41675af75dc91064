import type { SearchTerm } from '../../../model/text/search-terms.ts'
import type { SearchLag } from '../../store.ts'
import { documentsIn, type EntryPlace, LogRows, ROW_PLACES } from './log-rows.ts'
import { isDamagedIndex, removeIndex, TextIndex } from './text-index.ts'

/** Documents that are removed in one transaction. */
const REMOVED = 128
/** Sessions that are looked at in one step. */
const SWEPT = 256

/** A question to the index. */
export interface IndexQuery {
  principal: string
  terms: readonly SearchTerm[]
  limit: number
  /** Only documents below this id; all of them if it is absent. */
  below?: number
  /** The time limit for indexing new entries, and then older ones if the index has too few matches. */
  waitMs: number
}

/** The answer of the index. */
export interface IndexMatches {
  /** The newest first. */
  places: EntryPlace[]
  /** Ask for documents below this id to continue; 0 if there are none. */
  below: number
  isComplete: boolean
}

/** The result of a step. `backfill`: indexed rows that are older than the index, which no caller waits for. */
export type IndexStep = 'nothing' | 'work' | 'backfill'

/**
 * Keeps the index equal to the logs, in small steps. New rows come first, then older ones from the newest to the oldest.
 * Every step is one transaction, so a crash costs one step at most; the next start continues where the index is.
 */
export class TextIndexer {
  readonly #file: string
  readonly #rows: LogRows
  #index: TextIndex | undefined
  /** Sessions whose documents may be of rows that are no longer there. */
  readonly #stale = new Set<number>()
  /** The last session that was compared with the logs after the start; undefined when all were. */
  #swept: number | undefined = 0
  #hasRemoved = false

  constructor(database: string, file: string) {
    this.#rows = new LogRows(database)
    this.#file = file
  }

  /** Rows of this session were removed from the logs. */
  removed(session: number): void {
    this.#stale.add(session)
  }

  /** Does the most urgent piece of work. */
  step(): IndexStep {
    if (this.removeStep() || this.#forward()) return 'work'
    return this.#backfill() ? 'backfill' : 'nothing'
  }

  /** Removes some entries that are no longer in the logs. Returns false if there are none. */
  removeStep(): boolean {
    if (this.#swept !== undefined) this.#sweep(this.#swept)
    const [session] = this.#stale
    if (session !== undefined) this.#removeOf(session)
    else if (this.#hasRemoved) {
      this.#open().flush()
      this.#hasRemoved = false
    }
    return this.#stale.size > 0 || this.#swept !== undefined || this.#hasRemoved
  }

  find({ waitMs, ...query }: IndexQuery): IndexMatches {
    const until = performance.now() + waitMs
    let isBehind = this.#forward()
    while (isBehind && performance.now() < until) isBehind = this.#forward()
    const matches = this.#find(query)
    while (matches.places.length < query.limit && performance.now() < until && this.#backfill()) {
      const more = this.#find({ ...query, below: matches.below, limit: query.limit - matches.places.length })
      matches.places.push(...more.places)
      matches.below = more.below
    }
    return { ...matches, isComplete: this.#isComplete && !isBehind }
  }

  lag(): SearchLag {
    const { low, high } = this.#open().position
    const since = this.#rows.timeAfter(high)
    return { backlog: Math.max(0, low - 1), ...(since !== undefined && { since }) }
  }

  close(): void {
    this.#rows.close()
    const index = this.#index
    this.#index = undefined
    this.#swept = 0
    index?.close()
  }

  /** Frees the pages of the index that are in memory. */
  shrink(): void {
    this.#index?.shrink()
  }

  /** After a failure: the next step opens both files again, with a new index if the old one is damaged. */
  reset(thrown: unknown): void {
    this.close()
    if (isDamagedIndex(thrown)) removeIndex(this.#file)
  }

  #find({ principal, terms, limit, below }: Omit<IndexQuery, 'waitMs'>): Omit<IndexMatches, 'isComplete'> {
    const index = this.#open()
    const places: EntryPlace[] = []
    const from = below ?? Number.MAX_SAFE_INTEGER
    for (const id of index.find(principal, terms, from)) {
      const place = this.#rows.place(Math.floor(id / ROW_PLACES), id % ROW_PLACES, principal)
      if (place) places.push(place)
      if (places.length === limit) return { places, below: id }
    }
    // Documents that are indexed later are below all that are there now.
    return { places, below: Math.min(from, index.position.low * ROW_PLACES) }
  }

  get #isComplete(): boolean {
    return this.#open().position.low <= 1
  }

  #forward(): boolean {
    const index = this.#open()
    const { low, high } = index.position
    const rows = this.#rows.after(high)
    const last = rows.at(-1)
    if (!last) return false
    index.add(rows.flatMap(documentsIn), { low, high: last.id })
    return true
  }

  #backfill(): boolean {
    const index = this.#open()
    const { low, high } = index.position
    if (low <= 1) return false
    const rows = this.#rows.before(low)
    index.add(rows.flatMap(documentsIn), { low: rows.at(-1)?.id ?? 1, high })
    return true
  }

  #sweep(after: number): void {
    const index = this.#open()
    let session: number | undefined = after
    for (let count = 0; count < SWEPT && session !== undefined; count++) {
      session = index.nextSession(session)
      if (session !== undefined) this.#stale.add(session)
    }
    this.#swept = session
  }

  /** The rows of a session are removed from its beginning, or all of them. */
  #removeOf(session: number): void {
    const lowest = this.#rows.lowest(session) ?? Number.MAX_SAFE_INTEGER / ROW_PLACES
    const removed = this.#open().remove(session, lowest * ROW_PLACES, REMOVED)
    if (removed > 0) this.#hasRemoved = true
    if (removed < REMOVED) this.#stale.delete(session)
  }

  #open(): TextIndex {
    this.#index ??= TextIndex.open(this.#file, this.#rows.top())
    return this.#index
  }
}
