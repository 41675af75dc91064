import type { ErrorCode } from '../../model/index.ts'
import type { QueuedRow, RecordRow } from '../log-store/prepared-batch.ts'
import type { Row } from '../row.ts'
import type { Charge, TrimPoint } from '../store.ts'
import type { TableRow } from '../tables.ts'
import type { PackedRows } from './packed-rows.ts'

/** `power`: acknowledged entries survive a power loss. `process`: they survive the end of this process. */
export type Durability = 'power' | 'process'

export interface WriterSettings {
  directory: string
  durability: Durability
  /** The maximum size of the database. */
  maxBytes: number | undefined
  /** The schema version of new entries. */
  entryVersion: number
}

/** The numbers of a row of frame counts: session, last frame, then the coverage. */
export const FRAME_COUNT_NUMBERS = 7

export interface SessionRow {
  n: number
  id: string
}

/** A session without a row, with its initial lease if any. */
export interface NewSessionRow extends SessionRow {
  fence: number
  owner: string | undefined
}

export interface LeaseRow {
  n: number
  fence: number
  owner: string | undefined
}

/** A row of a batch, and the number of its session. */
type Numbered<T> = T & { n: number }

export interface DequeuedRow {
  n: number
  turn: number
}

/** A blob belongs to the first session that refers to it. */
export interface BlobRow {
  id: string
  n: number
  /** The checksum of the bytes; unknown if another process wrote the blob. */
  content: number | undefined
}

/** One transaction, with the batches of any number of sessions. */
export interface Commit {
  kind: 'commit'
  /** Sessions without a row. */
  sessions: NewSessionRow[]
  leases: LeaseRow[]
  /** Rows with the number of their session. */
  log: PackedRows
  /** The frames of a batch as one text, with the number of the session and the last frame. */
  journal: PackedRows
  frameCounts: number[]
  records: Numbered<RecordRow & { session: string }>[]
  dequeued: DequeuedRow[]
  queued: Numbered<QueuedRow>[]
  receipts: TableRow<'receipt'>[]
  blobs: BlobRow[]
  charges: Charge[]
  facts: TableRow<'audit'>[]
}

export interface Delete {
  kind: 'delete'
  n: number
  id: string
  fact: TableRow<'audit'> | undefined
}

export interface Trim extends TrimPoint {
  kind: 'trim'
  n: number
}

/** Keys that were used before this time. */
export interface Forget {
  kind: 'forget'
  before: number
}

/** A write that is its own transaction, to keep the order. */
export type Removal = Delete | Trim | Forget

/** Changes of tokens, grants and the audit trail, in one transaction. */
export interface AccessWrite {
  kind: 'access'
  /** Replaces the token of this name. */
  token?: Row
  permit?: TableRow<'permit'>
  withdrawn?: Pick<TableRow<'permit'>, 'grantee' | 'principal'>
  fact?: TableRow<'audit'>
  forgetBefore?: number
}

/** Whether a commit could succeed. */
export interface Probe {
  kind: 'probe'
  writes: boolean
}

export interface Close {
  kind: 'close'
}

export type ToWriter = Commit | Removal | AccessWrite | Probe | Close

/** The reply to the start and to every message; undefined on success. */
export type FromWriter =
  | { code: ErrorCode; message: string; details: Record<string, unknown> | undefined }
  | undefined
