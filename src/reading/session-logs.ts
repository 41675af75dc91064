import type { Timers } from '../drivers/driver.ts'
import { type BlobRef, type Entry, MainstemError, type SessionRecord } from '../model/index.ts'
import type { ByteRange } from '../model/text/byte-range.ts'
import type {
  DailyUsage,
  JournalFrame,
  SearchLag,
  SessionQuery,
  Store,
  TextMatches,
  TextQuery,
} from '../stores/store.ts'
import { AuditTrail } from './audit-trail.ts'
import { LogReader, type ReplayOptions } from './log-reader.ts'

interface LogsDeps {
  store: Store
  timers: Timers
  /** The memory limit for log pages of all readers together. */
  readBytes?: number
  newId(): string
  /** Keep who sent each command; true by default. */
  audit?: boolean
}

/** Reads sessions of the store, whichever server owns them. */
export abstract class SessionLogs {
  /** Who did what, on every server of the store. */
  readonly audit: AuditTrail
  protected readonly reader: LogReader
  readonly #store: Store

  /** `readBytes` bounds the memory of all readers. */
  constructor({ store, timers, readBytes, newId, audit = true }: LogsDeps) {
    this.#store = store
    this.audit = new AuditTrail(store, newId, audit)
    this.reader = new LogReader(store, timers, readBytes, (id) => this.repair(id))
  }

  /** Repairs a session that failed here, or throws. Does nothing for other sessions. */
  abstract repair(id: string): Promise<void>

  head(id: string): Promise<number> {
    return this.#store.head(id)
  }

  /** Entries after a cursor; empty only at the head. */
  read(id: string, after: number, limit: number): Promise<readonly Entry[]> {
    return this.#store.read(id, after, limit)
  }

  /** Entries after a cursor up to another, in pages. */
  replay(id: string, after: number, last: number, options?: ReplayOptions): AsyncGenerator<readonly Entry[]> {
    return this.reader.replay(id, after, last, options)
  }

  /** Reads a blob, or a part of it, in pieces. */
  blob(ref: BlobRef, range?: ByteRange): AsyncIterable<Uint8Array> {
    return this.#store.readBlob(ref, range)
  }

  /** Raw frames after this frame number up to another, in pages. */
  replayJournal(
    id: string,
    after: number,
    last: number,
    options?: ReplayOptions,
  ): AsyncGenerator<readonly JournalFrame[]> {
    return this.reader.replayJournal(id, after, last, options)
  }

  /**
   * Replays a log and follows it. Ends early if the session is deleted. With `types`, entries of other types may be left
   * out of what is replayed, but never the last one.
   */
  follow(
    id: string,
    after: number,
    signal: AbortSignal,
    types?: ReplayOptions['types'],
  ): AsyncGenerator<readonly Entry[]> {
    return this.reader.follow(id, after, signal, types)
  }

  /** Like `follow`, as stored JSON texts. Readers at the same cursor share lists. */
  followTexts(id: string, after: number, signal: AbortSignal): AsyncGenerator<readonly string[]> {
    return this.reader.followTexts(id, after, signal)
  }

  async record(id: string): Promise<SessionRecord | undefined> {
    // The record shows whether it failed.
    if (this.reader.failureOf(id)) await this.repair(id).catch(() => undefined)
    const record = await this.#store.record(id)
    return record && this.#withFailure(record)
  }

  #withFailure(record: SessionRecord): SessionRecord {
    const failure = this.reader.failureOf(record.id)
    return failure ? { ...record, failure: { code: failure.code, message: failure.message } } : record
  }

  /** How many sessions there are of each status. */
  counts(): Promise<ReadonlyMap<SessionRecord['status'], number>> {
    return this.#store.counts()
  }

  /** The principals that used a native conversation. */
  nativeOwners(native: string): Promise<readonly string[]> {
    return this.#store.nativeOwners(native)
  }

  /** The usage of a principal, or of all, by agent, model and day, including deleted sessions. */
  dailyUsage(principal?: string): Promise<readonly DailyUsage[]> {
    return this.#store.dailyUsage(principal)
  }

  /** Finds entries of a principal that match every term, newest first. */
  search(query: TextQuery): Promise<TextMatches> {
    return this.#store.search(query)
  }

  /** How far the index of the search is behind the logs. */
  searchLag(): Promise<SearchLag> {
    return this.#store.searchLag()
  }

  /** Yields every matching record, newest first. */
  allRecords(query: Omit<SessionQuery, 'before' | 'limit'> = {}): AsyncGenerator<SessionRecord> {
    return allRecords(this, query)
  }

  async records(query: SessionQuery): Promise<readonly SessionRecord[]> {
    const records = await this.#store.records(query)
    return records.map((record) => this.#withFailure(record))
  }
}

/** The record of a session that has to exist. */
export async function recordOf(source: Pick<Store, 'record'>, id: string): Promise<SessionRecord> {
  const record = await source.record(id)
  if (!record) throw new MainstemError('session_not_found', `there is no session ${id}`)
  return record
}

const PAGE = 512

/** Yields every matching record, newest first, across all pages. */
export async function* allRecords(
  source: Pick<Store, 'records'>,
  query: Omit<SessionQuery, 'before' | 'limit'>,
): AsyncGenerator<SessionRecord> {
  let before: string | undefined
  do {
    const page = await source.records({ ...query, ...(before !== undefined && { before }), limit: PAGE })
    yield* page
    before = page.at(-1)?.id
  } while (before !== undefined)
}
