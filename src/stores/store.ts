/// <reference lib="esnext.disposable" preserve="true" />
import type { BlobRef, BlobSink, Coverage, Entry, SessionRecord, Usage } from '../model/index.ts'

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
  /** What the first request was answered with, where that cannot be told from the session. JSON. */
  answer?: unknown
}

/** A record without what the store knows itself. */
export type SessionState = Omit<SessionRecord, 'head' | 'updatedAt' | 'earliest' | 'earliestFrame'>

/** A prompt that was accepted and waits for its turn. */
export type QueuedPrompt = SessionRecord['queue'][number]

/** The part of a record that is written as one text. Queued prompts can be large, so each is stored separately. */
export type StoredState = Omit<SessionState, 'queue'>

/** What came from the agent so far. It changes with every frame, so it is not worth a record. */
export interface Heard {
  /** The number of the last frame. */
  frames: number
  coverage: Coverage
}

/** What a principal has used with one agent on one day, in UTC. It outlives the sessions. */
export interface Spent {
  principal: string
  agent: string
  day: string
  sessions: number
  turns: number
  usage: Usage
}

/** What is added to that. */
export interface Charge extends Omit<Spent, 'day'> {
  at: number
}

/** From where on a session is kept; what is not named is not touched. */
export interface Edge {
  seq?: number
  frame?: number
}

/** Who asks for a lease, and for how long. */
export interface LeaseTerms {
  /** The id of a server. Two processes that run at the same time must not share one. */
  owner: string
  ttlMs: number
}

/** The right to write to a session. Every write carries the fence; the next lease of the session makes it stale. */
export interface Lease {
  /** Grows with every lease of the session. */
  fence: number
}

/** The fence of a session that was never leased. */
export const NO_FENCE = 0

/** The fence of a session that was created with a lease. */
export const FIRST_FENCE = 1

/** What is committed together, or not at all. */
export interface Batch {
  /** They continue the log exactly: the first has the seq after the head. Refused with `conflict` otherwise. */
  entries: readonly Entry[]
  journal?: readonly JournalFrame[]
  /** What the session is after these entries, where that changed. */
  record?: StoredState
  /** Prompts to add at the end of the session's queue. Each is stored once, until its turn is in `dequeued`. */
  queued?: readonly QueuedPrompt[]
  /** The turns whose prompts leave the queue. */
  dequeued?: readonly number[]
  /** From now on this is part of the record. */
  heard?: Heard
  /** Keys that are used up by these entries. Refused with `conflict` where one is taken. */
  receipts?: readonly Receipt[]
  charges?: readonly Charge[]
  /** Ends the lease with this commit, so that another owner can acquire the session. The fence stays as it is. */
  release?: boolean
}

/** A search over the logs of one principal. */
export interface TextQuery {
  principal: string
  /** Lower case; an entry matches that contains each of them. */
  words: readonly string[]
  limit: number
}

export interface SessionQuery {
  /** Only this principal's. */
  principal?: string
  status?: SessionRecord['status']
  /** Only those with a request that waits for an answer. */
  asking?: boolean
  /** Only those that this owner could acquire now: free, expired, or leased by this owner. */
  acquirableBy?: string
  /** Newest first; older than this session. */
  before?: string
  limit: number
}

/**
 * Many logs. What `append` has answered is committed; nobody may be shown anything before that.
 *
 * A session has one owner at a time. `append`, `trim` and `delete` carry the fence of its lease and are refused with
 * `fenced` where that is not the current one, also for batches without entries. Without a fence they are accepted only
 * while the session was never leased.
 */
export interface Store extends AsyncDisposable {
  append(session: string, batch: Batch, fence?: number): Promise<void>
  /**
   * Begins a log, and takes an idempotency key for it in the same transaction. Where somebody holds the key already
   * nothing is written, and their receipt is the answer. With terms, the session begins with a lease and FIRST_FENCE.
   */
  create(session: string, batch: Batch, receipt?: Receipt, terms?: LeaseTerms): Promise<Receipt | undefined>
  /**
   * Leases a session to an owner, with a new fence: every write with an older one is refused from now on. Refused with
   * `fenced` while the lease of another owner has not expired, and with `session_not_found` where there is no session.
   * An owner can always acquire its own sessions, so a restarted server need not wait. What was committed before is
   * seen by every read after this.
   */
  acquire(session: string, owner: string, ttlMs: number): Promise<Lease>
  /** Extends all leases of an owner, measured by the clock of the store. Leases that others acquired stay theirs. */
  renew(owner: string, ttlMs: number): Promise<void>
  /** Ends all leases of an owner now. Its fences stay valid until another owner acquires the session. */
  release(owner: string): Promise<void>
  /** The receipt that holds a key, if any. */
  receipt(scope: string, key: string): Promise<Receipt | undefined>
  /**
   * Entries after a cursor, in order, no more than `limit` and no more than `maxBytes` of text, but always the first:
   * an entry larger than that comes alone, and nothing comes only at the head. Where the first is no longer kept it is
   * refused with `cursor_gone`, and `earliest` in the details is the first that is.
   */
  read(session: string, after: number, limit: number, maxBytes?: number): Promise<readonly Entry[]>
  /**
   * What follows a cursor, each entry as the JSON that is kept of it; bounded and refused as `read` is. Who reads along
   * at the same place is given the same list.
   */
  readTexts(session: string, after: number, maxBytes?: number): Promise<readonly string[]>
  /**
   * How many bytes of text the next `read` or `readTexts` after this cursor loads into memory; 0 where they are in
   * memory already. Reads no text, so a caller can wait for room before it reads.
   */
  weigh(session: string, after: number, limit: number, maxBytes?: number): Promise<number>
  /** The last seq; 0 when there is no such log. */
  head(session: string): Promise<number>
  /** Settles when the head is beyond `after`, at once if it is already; also when the signal fires. */
  changed(session: string, after: number, signal: AbortSignal): Promise<void>
  /** Its `head` can be read: a `read` after this answers with every entry up to it, unless they were removed since. */
  record(session: string): Promise<SessionRecord | undefined>
  /** Newest first; the same holds for their heads. */
  records(query: SessionQuery): Promise<readonly SessionRecord[]>
  /** Entries whose text contains every word of a search, as `searchText` names it; the newest first. */
  search(query: TextQuery): Promise<readonly Entry[]>
  /** How many sessions there are of each status. */
  counts(): Promise<ReadonlyMap<SessionRecord['status'], number>>
  /**
   * The principals whose sessions use, announced or resumed this native conversation. Deleting a session does not
   * remove its principal: the agent still has the conversation.
   */
  nativeOwners(native: string): Promise<readonly string[]>
  /** The account of a principal. */
  spent(principal: string): Promise<readonly Spent[]>
  /** Raw frames after the one of this number; bounded and refused as `read` is. */
  readJournal(
    session: string,
    after: number,
    limit: number,
    maxBytes?: number,
  ): Promise<readonly JournalFrame[]>
  readonly blobs: BlobSink
  readBlob(ref: BlobRef): Promise<Uint8Array>
  /** Drops what lies before the edge, or somewhat less. The last entry stays, so that no seq is ever given twice. */
  trim(session: string, edge: Edge, fence?: number): Promise<void>
  /** Finds out whether a commit could succeed now, and fails with `storage_failed` if not. It changes nothing. */
  probe(): Promise<void>
  /** Forgets keys that were used more than `ms` ago, in time that processes had the store open. */
  forgetReceipts(ms: number): Promise<void>
  /**
   * Removes log, journal, record, queue and blobs. Usage and the owners of native conversations stay, and so do receipts
   * without their answers: a request that is sent again must not have its effect a second time.
   */
  delete(session: string, fence?: number): Promise<void>
}
