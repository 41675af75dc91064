/// <reference lib="esnext.disposable" preserve="true" />

import type { AuditFact } from '../model/access.ts'
import type { BlobRef, BlobSink, Coverage, Entry, EventType, SessionRecord, Usage } from '../model/index.ts'
import type { AcceptedPrompt } from '../model/session/queue-preview.ts'
import type { ByteRange } from '../model/text/byte-range.ts'
import type { SearchTerm } from '../model/text/search-terms.ts'
import type { AccessStore } from './access.ts'
import type { CallStore, WebhookCall } from './calls.ts'
import type { NodeStore } from './nodes.ts'

/** A raw frame as the journal keeps it, beside the log. */
export interface JournalFrame {
  frame: number
  stream: string
  text: string
}

/** One use of an idempotency key: its scope, the request it was used for, and the session of that request. */
export interface Receipt {
  /** Principal and route. The same key in another scope is a different key. */
  scope: string
  key: string
  fingerprint: string
  session: string
  /** The JSON body of the first response, where it cannot be derived from the session. */
  answer?: unknown
}

/** A record without the fields that the store computes. */
export type SessionState = Omit<
  SessionRecord,
  'head' | 'updatedAt' | 'earliest' | 'earliestFrame' | 'failure'
>

/** The part of a record that is written as one text. Queued prompts can be large, so each is stored separately. */
export type StoredState = Omit<SessionState, 'queue'>

/** Counts the frames of the agent. Changes with every frame, so it is written without the rest of the record. */
export interface FrameCounts {
  /** The number of the last frame. */
  frames: number
  coverage: Coverage
}

/** The usage of one principal with one agent and one model on one day (UTC). Kept when the sessions are deleted. */
export interface DailyUsage {
  principal: string
  agent: string
  /** Absent where the agent named none, and for usage from before models were recorded. */
  model?: string
  day: string
  sessions: number
  turns: number
  usage: Usage
}

/** An amount to add to the daily usage. */
export interface Charge extends Omit<DailyUsage, 'day'> {
  at: number
}

/** The first entry and the first frame to keep. An absent field leaves that part as it is. */
export interface TrimPoint {
  seq?: number
  frame?: number
}

/** The owner of a lease and its duration. */
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

/** The changes of one atomic commit. */
export interface Batch {
  /** The first entry has the seq after the head, without gaps after it. Refused with `conflict` otherwise. */
  entries: readonly Entry[]
  journal?: readonly JournalFrame[]
  /** The state of the session after these entries, if it changed. */
  record?: StoredState
  /** Prompts to add at the end of the session's queue. Each is stored once, until its turn is in `dequeued`. */
  queued?: readonly AcceptedPrompt[]
  /** The turns whose prompts leave the queue. */
  dequeued?: readonly number[]
  /** Replaces the frame counts of the record. */
  frameCounts?: FrameCounts
  /** Idempotency keys to store with these entries. Refused with `conflict` if one exists already. */
  receipts?: readonly Receipt[]
  charges?: readonly Charge[]
  /** Rows of the audit trail. */
  facts?: readonly AuditFact[]
  /** Entries of this batch that webhooks are called for. */
  calls?: readonly WebhookCall[]
  /** Ends the lease with this commit, so that another owner can acquire the session. The fence stays as it is. */
  release?: boolean
}

/** Selects entries by their types: those after a cursor, up to `last`. */
export interface TypeQuery {
  types: ReadonlySet<EventType>
  after: number
  last: number
  limit: number
  /** The text of the rows that are loaded. */
  maxBytes: number
}

/** The entries that were found. No other entry after the cursor and up to `end` has one of the types. */
export interface TypedEntries {
  entries: readonly Entry[]
  end: number
}

/** A search over the logs of one principal. */
export interface TextQuery {
  principal: string
  /** At least one, as `searchTerms` makes them of a query. */
  terms: readonly SearchTerm[]
  limit: number
}

/** The result of a search. */
export interface TextMatches {
  /** The newest first. */
  entries: readonly Entry[]
  /** False while older entries are still being indexed and might match too. */
  isComplete: boolean
}

/** How far the index of the search is behind the logs. */
export interface SearchLag {
  /** When the oldest entry was committed that is new and not indexed yet; absent if there is none. */
  since?: number
  /** Rows of the log that are older than the index and not indexed yet, at most. */
  backlog: number
}

export interface SessionQuery {
  /** Only sessions of these principals. */
  principals?: readonly string[]
  status?: SessionRecord['status']
  /** Only sessions with an open request. */
  asking?: boolean
  /** Only sessions with queued prompts, also those that continue later. */
  queued?: boolean
  /** Only sessions whose last turn failed, as `isFailed` says, or only the others. */
  failed?: boolean
  /** Only sessions that this owner could acquire now: never leased, released, expired, or leased by this owner. */
  acquirableBy?: string
  /** A page cursor: only sessions older than this one. */
  before?: string
  limit: number
  /** How much text the records may have together; 4 MiB by default. */
  maxBytes?: number
}

/**
 * Stores the logs of many sessions. A batch is durable when `append` resolves; readers see no entry before that.
 *
 * A session has one owner at a time. `append`, `trim` and `delete` carry the fence of its lease and are refused with
 * `fenced` if a newer lease exists, also for batches without entries. A call without a fence is accepted only while the
 * session was never leased.
 */
export interface Store extends AsyncDisposable {
  append(session: string, batch: Batch, fence?: number): Promise<void>
  /**
   * Creates a log and stores an idempotency key for it in the same transaction. If the key exists already, nothing is
   * written and the existing receipt is returned. With `terms`, the session starts with a lease and `FIRST_FENCE`.
   */
  create(session: string, batch: Batch, receipt?: Receipt, terms?: LeaseTerms): Promise<Receipt | undefined>
  /**
   * Leases a session to an owner, with a new fence: every write with an older fence is refused from now on. Refused
   * with `fenced` while the lease of another owner is valid, and with `session_not_found` if there is no session. An
   * owner can always acquire its own sessions, so a restarted server need not wait. Reads after this see every earlier
   * commit.
   */
  acquire(session: string, owner: string, ttlMs: number): Promise<Lease>
  /** Extends all leases of an owner, measured by the clock of the store. Leases that others acquired stay theirs. */
  renew(owner: string, ttlMs: number): Promise<void>
  /** Ends all leases of an owner now. Its fences stay valid until another owner acquires the session. */
  release(owner: string): Promise<void>
  /** Loads the receipt of a key. */
  receipt(scope: string, key: string): Promise<Receipt | undefined>
  /**
   * Reads entries after a cursor, in order: at most `limit` entries and `maxBytes` of text, but always at least one. An
   * entry larger than `maxBytes` is returned alone; the result is empty only at the head. Refused with `cursor_gone` if
   * the next entry was trimmed; `earliest` in the details is the first entry that is kept.
   */
  read(session: string, after: number, limit: number, maxBytes?: number): Promise<readonly Entry[]>
  /**
   * Reads entries after a cursor as their stored JSON texts, with the bounds and refusals of `read`. Readers at the
   * same cursor share one list, so it must not be changed.
   */
  readTexts(session: string, after: number, maxBytes?: number): Promise<readonly string[]>
  /**
   * Finds entries by their types, without reading the others: the work depends on what is found. Where `end` is the
   * cursor, the next entries have to be read: they are of an older version, streamed, or larger than `maxBytes`. Refuses
   * damaged rows among those that it reads. Refused with `cursor_gone` like `read`.
   */
  readTypes(session: string, query: TypeQuery): Promise<TypedEntries>
  /**
   * Returns how many bytes the next `read` or `readTexts` after this cursor loads into memory; 0 if they are in memory
   * already. Loads no text, so a caller can reserve memory before it reads.
   */
  readSize(session: string, after: number, limit: number, maxBytes?: number): Promise<number>
  /** The last seq; 0 if there is no such log. */
  head(session: string): Promise<number>
  /** Resolves when the head is beyond `after`, or when the signal fires. */
  changed(session: string, after: number, signal: AbortSignal): Promise<void>
  /** Loads a record. Every entry up to its `head` can be read, unless it was removed since. */
  record(session: string): Promise<SessionRecord | undefined>
  /**
   * Lists records, newest first. Every entry up to their heads can be read. Returns at most `limit` records and
   * `maxBytes` of text, but always the first: an empty page is the last.
   */
  records(query: SessionQuery): Promise<readonly SessionRecord[]>
  /** Loads a queued prompt with its whole text and its images; undefined once it has left the queue. */
  queuedPrompt(session: string, turn: number): Promise<AcceptedPrompt | undefined>
  /**
   * Finds entries of a principal that match every term, newest first. An entry matches a term if the tokens of its text
   * contain the tokens of the term next to each other, where the last may be the beginning of a longer one. The text is
   * what `searchText` returns of the event, its tokens what `searchTokens` returns of that; `matchesTerms` decides.
   *
   * A store may look up candidates in an index that is less exact, such as one without positions, and then compare with
   * `matchesTerms`. Every committed entry is found as soon as `append` has answered, and no removed one after `delete` or
   * `trim` has. `isComplete` is false where entries may be
   * missing: those of a database that an older version wrote, and those that an index which is far behind does not have.
   */
  search(query: TextQuery): Promise<TextMatches>
  /** Reads a few rows, however much is stored. */
  searchLag(): Promise<SearchLag>
  /** Counts the sessions of each status. Reads an index of all sessions. */
  counts(): Promise<ReadonlyMap<SessionRecord['status'], number>>
  /**
   * Lists the principals whose sessions use, announced or resumed this native conversation. Deleting a session does not
   * remove its principal: the agent still has the conversation.
   */
  nativeOwners(native: string): Promise<readonly string[]>
  /** Loads the usage of a principal, or of all of them, by agent, model and day; in no particular order. */
  dailyUsage(principal?: string): Promise<readonly DailyUsage[]>
  /** Reads raw frames after this frame number, with the bounds and refusals of `read`. */
  readJournal(
    session: string,
    after: number,
    limit: number,
    maxBytes?: number,
  ): Promise<readonly JournalFrame[]>
  /** Coordinates several servers on this store. Absent if only one process can use the store. */
  readonly nodes?: NodeStore
  readonly access: AccessStore
  readonly calls: CallStore
  readonly blobs: BlobSink
  /**
   * Reads a blob, or a part of it, in pieces. The whole blob is compared with its checksum before the first piece, and
   * refused with `storage_failed` if it is damaged.
   */
  readBlob(ref: BlobRef, range?: ByteRange): AsyncIterable<Uint8Array>
  /** Removes entries and frames before the point, or fewer. Keeps the last entry, so that no seq is assigned twice. */
  trim(session: string, point: TrimPoint, fence?: number): Promise<void>
  /** Fails with `storage_failed` if a commit could not succeed now. Changes nothing. */
  probe(): Promise<void>
  /** Removes receipts older than `ms`, measured in time that processes had the store open. */
  forgetReceipts(ms: number): Promise<void>
  /**
   * Removes log, journal, record, queue and blobs. Keeps usage, the owners of native conversations, and receipts without
   * their answers, because a repeated request must not take effect a second time. The fact is stored in the same transaction.
   */
  delete(session: string, fence?: number, fact?: AuditFact): Promise<void>
}
