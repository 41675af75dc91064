/// <reference lib="esnext.disposable" preserve="true" />
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
  'audit',
] as const satisfies readonly TableName[]

export const UNORDERED: ReadonlySet<TableName> = new Set(['native', 'spent', 'token', 'permit'])

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
