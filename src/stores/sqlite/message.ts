import type { ErrorCode } from '../../model/index.ts'
import type { Charge, TrimPoint } from '../store.ts'
import type { Texts } from './texts.ts'

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

/** The numbers of a row of the log: session, first seq, last seq, time of the last entry. */
export const LOG_NUMBERS = 4
/** The numbers of a body of the journal: session, last frame. */
export const JOURNAL_NUMBERS = 2
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

export interface RecordRow extends SessionRow {
  principal: string
  status: string
  asking: boolean
  text: string
}

export interface QueueRow {
  n: number
  turn: number
  text: string
  /** The whole prompt, where `text` is only a part of it. */
  whole: string | undefined
}

export interface DequeuedRow {
  n: number
  turn: number
}

export interface ReceiptRow {
  id: string
  session: string
  at: number
  text: string
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
  log: Texts
  journal: Texts
  frameCounts: number[]
  records: RecordRow[]
  dequeued: DequeuedRow[]
  queued: QueueRow[]
  receipts: ReceiptRow[]
  blobs: BlobRow[]
  charges: Charge[]
}

export interface Delete {
  kind: 'delete'
  n: number
  id: string
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

/** Whether a commit could succeed. */
export interface Probe {
  kind: 'probe'
}

export interface Close {
  kind: 'close'
}

export type ToWriter = Commit | Removal | Probe | Close

/** The reply to the start and to every message; undefined on success. */
export type FromWriter =
  | { code: ErrorCode; message: string; details: Record<string, unknown> | undefined }
  | undefined
