/// <reference lib="esnext.disposable" preserve="true" />

import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import type { Row } from '../row.ts'
import type { TableName } from '../tables.ts'

/**
 * The tables in the order in which they are copied: rows that name a session follow the sessions.
 *
 * Rows of a table are read in the same order from every store: sessions from the oldest to the newest, the log in the
 * order of commits, receipts and the audit trail by id, and all others by session. The `UNORDERED` tables have no common order, because
 * stores encode names differently.
 */
export const PARTS = [
  'session',
  'log',
  'journal',
  'queued',
  'blob',
  'receipt',
  'native',
  'spent',
  'token',
  'permit',
  'webhook',
  'delivery',
  'audit',
] as const satisfies readonly TableName[]

export const UNORDERED: ReadonlySet<TableName> = new Set([
  'native',
  'spent',
  'token',
  'permit',
  'webhook',
  'delivery',
])

export interface CopyTotals {
  sessions: number
  entries: number
}

/** A store to be copied: one that no server has open, or its state at one moment. */
export interface CopySource extends AsyncDisposable {
  /** Names the store in messages and in the mark of a copy. Has no password. */
  readonly name: string
  /**
   * The rows of a table after this one, as `tables.ts` describes them, in pages of a limited size. Throws if a row does not
   * match its checksum. A session has no owner: its lease is not copied, but its fence is, which must never become smaller.
   */
  read(table: TableName, after?: Row): AsyncIterable<readonly Row[]>
  totals(): Promise<CopyTotals>
  /** Reads a blob in pieces, after its checksum was compared. */
  readBlob(id: string): AsyncIterable<Uint8Array>
  /** How long processes had the store open, in milliseconds: the time in which the age of receipts is measured. */
  openTime(): Promise<number>
  /** Throws if a server has the store open and may change what is read. */
  checkIdle(): Promise<void>
}

export interface TargetState {
  /** The source of an unfinished copy. */
  unfinished?: string
  /** The source of a finished copy. */
  finished?: string
  /** Whether the store has anything that a copy would have to keep. */
  isEmpty: boolean
}

/** A store that receives a copy. Servers refuse to open it from `begin` to `finish`. */
export interface CopyTarget extends CopySource {
  /** The last row of a table, where an interrupted copy continues; undefined for one that is copied from its start. */
  last(table: TableName): Promise<Row | undefined>
  /** Adds a page in one transaction. A row that exists already is not added again. */
  add(table: TableName, rows: readonly Row[]): Promise<void>
  state(): Promise<TargetState>
  /** Marks the store as an unfinished copy of this source. */
  begin(source: string): Promise<void>
  /** The content of a blob comes before its row. */
  writeBlob(id: string, content: AsyncIterable<Uint8Array>): Promise<void>
  /** Call after the last row. Continues the age of receipts at this time, and updates statistics for readers. */
  complete(openTime: number): Promise<void>
  /** Removes everything that an unfinished copy has written; the mark stays. */
  clear(): Promise<void>
  /** Replaces the mark of an unfinished copy by that of a finished one. */
  finish(source: string): Promise<void>
}

/** The refusal of a server to open a store that a copy has not finished. */
export function unfinishedCopy(store: string, source: string): MainstemError {
  return new MainstemError('storage_failed', `${store} is an unfinished copy of ${source}`, {
    advice: 'Run the command that made it again, which completes it.',
  })
}

/** The refusal to copy a store that is in use. */
export function inUse(message: string, advice: string): MainstemError {
  return new MainstemError('conflict', message, { advice })
}

/** A copy that cannot become equal to its source. */
export function sourceChanged(what: string, cause?: unknown): MainstemError {
  const message = `${what} differs in the copy, because the source changed after the copy began`
  const advice = 'Run the command again with --restart, which copies everything anew.'
  return new MainstemError('conflict', message, { advice }, { cause })
}

/** The text of a page; a single row may be larger. */
export const PAGE_BYTES = 4 * 1024 * 1024
/** The rows of a page. */
export const PAGE_ROWS = 1_000

/** Groups rows into pages by size. */
export function* pagesOf<T>(rows: Iterable<T>, sizeOf: (row: T) => number): Generator<T[]> {
  let page: T[] = []
  let bytes = 0
  for (const row of rows) {
    page.push(row)
    bytes += sizeOf(row)
    if (bytes < PAGE_BYTES && page.length < PAGE_ROWS) continue
    yield page
    page = []
    bytes = 0
  }
  if (page.length > 0) yield page
}

/** The text and bytes of a row. */
export function sizeOf(row: Row): number {
  let size = 0
  for (const value of Object.values(row))
    if (typeof value === 'string' || value instanceof Uint8Array) size += value.length
  return size
}
