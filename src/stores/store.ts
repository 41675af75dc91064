import type { BlobRef, BlobSink, Entry } from '../model/index.ts'

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

/** Many logs. What `append` has answered is committed; nobody may be shown anything before that. */
export interface Store extends AsyncDisposable {
  /** Entries that continue the log exactly: the first has the seq after the head. Refused with `conflict` otherwise. */
  append(session: string, entries: readonly Entry[], journal?: readonly JournalFrame[]): Promise<void>
  /** Entries after a cursor, in order; fewer than `limit` only at the head. */
  read(session: string, after: number, limit: number): Promise<readonly Entry[]>
  /** The last seq; 0 when there is no such log. */
  head(session: string): Promise<number>
  /** Settles when the head is beyond `after`, at once if it is already; also when the signal fires. */
  changed(session: string, after: number, signal: AbortSignal): Promise<void>
  /** Takes a key for a session, or tells which receipt holds it already. */
  claim(receipt: Receipt): Promise<Receipt>
  /** The receipt that holds a key, if any does. */
  receipt(scope: string, key: string): Promise<Receipt | undefined>
  readJournal(session: string, after: number, limit: number): Promise<readonly JournalFrame[]>
  readonly blobs: BlobSink
  readBlob(ref: BlobRef): Promise<Uint8Array>
  delete(session: string): Promise<void>
}
