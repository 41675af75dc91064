import type { BlobRef, BlobSink, Entry, SessionRecord } from '../model/index.ts'

/** A raw frame as the journal keeps it, beside the log. */
export interface JournalFrame {
  frame: number
  stream: string
  text: string
}

/** One use of an idempotency key: who used it, for what, and the session that came of it. */
export interface Receipt {
  /** Principal and route: the same key of somebody else is another key. */
  scope: string
  key: string
  fingerprint: string
  session: string
}

/** A record without what the store knows itself. */
export type SessionState = Omit<SessionRecord, 'head' | 'updatedAt'>

/** What is committed together, or not at all. */
export interface Batch {
  /** They continue the log exactly: the first has the seq after the head. Refused with `conflict` otherwise. */
  entries: readonly Entry[]
  journal?: readonly JournalFrame[]
  /** What the session is after these entries, where that changed. */
  record?: SessionState
}

export interface SessionQuery {
  /** Only this principal's. */
  principal?: string
  status?: SessionRecord['status']
  /** Only those with a request that waits for an answer. */
  asking?: boolean
  /** Newest first; older than this session. */
  before?: string
  limit: number
}

/** Many logs. What `append` has answered is committed; nobody may be shown anything before that. */
export interface Store extends AsyncDisposable {
  append(session: string, batch: Batch): Promise<void>
  /**
   * Begins a log, and takes an idempotency key for it in the same transaction. Where somebody holds the key already
   * nothing is written, and their receipt is the answer.
   */
  create(session: string, batch: Batch, receipt?: Receipt): Promise<Receipt | undefined>
  /** The receipt that holds a key, if any. */
  receipt(scope: string, key: string): Promise<Receipt | undefined>
  /** Entries after a cursor, in order; fewer than `limit` only at the head. */
  read(session: string, after: number, limit: number): Promise<readonly Entry[]>
  /** The last seq; 0 when there is no such log. */
  head(session: string): Promise<number>
  /** Settles when the head is beyond `after`, at once if it is already; also when the signal fires. */
  changed(session: string, after: number, signal: AbortSignal): Promise<void>
  record(session: string): Promise<SessionRecord | undefined>
  /** Newest first. */
  records(query: SessionQuery): Promise<readonly SessionRecord[]>
  readJournal(session: string, after: number, limit: number): Promise<readonly JournalFrame[]>
  readonly blobs: BlobSink
  readBlob(ref: BlobRef): Promise<Uint8Array>
  /** Removes log, journal, record, receipts and blobs. */
  delete(session: string): Promise<void>
}
