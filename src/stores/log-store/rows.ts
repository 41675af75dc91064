import type { Row } from '../row.ts'
import type { SessionQuery, TypeQuery } from '../store.ts'
import { coveredBy, type Sums, sumsBy } from '../tables.ts'

/** A database that waits for nothing may answer at once. */
export type Awaitable<T> = T | Promise<T>

/** Rows of a log or a journal in order, and the counters of their session. */
export interface RowPage {
  /** The columns of `session` that say where log and journal begin and end, with their checksums. */
  counters: Row
  rows: readonly Row[]
  /** The last frame of the whole journal, as far as these rows show it. */
  kept?: number | undefined
}

/** A session with its whole row and the rows of its queue, all of the same commit. */
export interface SessionRows {
  row: Row
  queue: readonly Row[]
}

/** A bounded part of a log or a journal: the rows that have the entries or frames after a cursor. */
export interface Bounds {
  after: number
  limit: number
  /** The first row is read, however large. */
  maxBytes: number
}

/** Rows with entries of some types, in order. No row up to `end` is missing. */
export interface TypedPage extends RowPage {
  end: number
}

/** Selects sessions; `below` is the number of the last one that was read, and `room` the text that is still wanted. */
export interface SessionPageQuery extends SessionQuery {
  below: number | undefined
  room: number
}

/**
 * The rows of a database, as `tables.ts` describes them, with their checksums. `n` is the number of a session, and names
 * are as they were given. Nothing is compared here: the readers of the log store do that for every database.
 */
export interface RowSource {
  readonly sums: Sums
  log(session: string, bounds: Bounds): Awaitable<RowPage | undefined>
  /**
   * The rows of a log that name one of these types, as `readTypes` describes. `end` is before the first row whose types
   * are unknown, and before one that makes the text larger than `maxBytes`.
   */
  typed(session: string, query: TypeQuery): Awaitable<TypedPage | undefined>
  /** The size of what `log` would read. */
  logSize(session: string, bounds: Bounds): Awaitable<number>
  journal(session: string, bounds: Bounds): Awaitable<RowPage | undefined>
  session(session: string): Awaitable<SessionRows | undefined>
  /** The newest first. May return fewer than asked for, but none only at the end. */
  sessions(page: SessionPageQuery): Awaitable<readonly SessionRows[]>
  /** The counters of sessions that exist, also of damaged ones. */
  counters(sessions: readonly string[]): Awaitable<readonly Row[]>
  queued(session: string, turn: number): Awaitable<Row | undefined>
  receipt(id: string): Awaitable<Row | undefined>
  /** Rows with `status` and `sessions`. */
  counts(): Awaitable<readonly Row[]>
  natives(id: string): Awaitable<readonly Row[]>
  spent(principal?: string): Awaitable<readonly Row[]>
}

/** What a record has of a queued prompt: the columns of its row, without the whole prompt. */
export const QUEUE = [...coveredBy(sumsBy('n').queued.sum), 'sum']

/** The row of a queued prompt with these columns. */
export function queuedRow(session: Row, values: readonly unknown[]): Row {
  return { ...session, ...Object.fromEntries(QUEUE.map((name, index) => [name, values[index]])) }
}
