import type { ErrorCode } from '../../model/index.ts'
import type { Charge, TrimPoint } from '../store.ts'
import type { Texts } from './texts.ts'

/** `power`: what is acknowledged survives a power cut. `process`: it survives the end of this process. */
export type Durability = 'power' | 'process'

export interface WriterSettings {
  directory: string
  durability: Durability
  /** How large the database may become. */
  maxBytes: number | undefined
  /** The schema version of the entries that will be written. */
  entryVersion: number
}

/** The numbers of a row of the log: session, first seq, last seq, time of the last entry. */
export const LOG_NUMBERS = 4
/** The numbers of a body of the journal: session, last frame. */
export const JOURNAL_NUMBERS = 2
/** The numbers of a row of what was frameCounts: session, last frame, then its coverage. */
export const FRAME_COUNT_NUMBERS = 7

export interface SessionRow {
  n: number
  id: string
}

/** A session that has no row so far, with its lease if it begins with one. */
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

/** A blob belongs to the first session that names it. */
export interface BlobRow {
  id: string
  n: number
  /** The checksum of its bytes; unknown of a blob that another process wrote. */
  content: number | undefined
}

/** One transaction, for as many sessions as had something to say. */
export interface Commit {
  kind: 'commit'
  /** Those without a row so far. */
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

/** What is a transaction of its own, because it must not overtake or be overtaken. */
export type Removal = Delete | Trim | Forget

/** Whether a commit could succeed. */
export interface Probe {
  kind: 'probe'
}

export interface Close {
  kind: 'close'
}

export type ToWriter = Commit | Removal | Probe | Close

/** To the start and to every message; nothing when it went well. */
export type FromWriter =
  | { code: ErrorCode; message: string; details: Record<string, unknown> | undefined }
  | undefined
