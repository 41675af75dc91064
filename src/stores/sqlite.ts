import { setImmediate } from 'node:timers/promises'
import type { ByteRange } from '../model/byte-range.ts'
import {
  type BlobRef,
  type BlobSink,
  type Entry,
  SCHEMA_VERSION,
  type SessionRecord,
} from '../model/index.ts'
import { checkContinues } from './check-continues.ts'
import { checkFence } from './check-fence.ts'
import { orIfDamaged } from './damaged.ts'
import { keyTaken } from './key-taken.ts'
import { Leases } from './leases.ts'
import { OpenTime } from './open-time.ts'
import { READ_BYTES } from './read-bytes.ts'
import { receiptId } from './receipt-id.ts'
import { RecordReads } from './record-reads.ts'
import { sessionNotFound } from './session-not-found.ts'
import { Blobs } from './sqlite/blobs.ts'
import { Committer } from './sqlite/committer.ts'
import { filesIn } from './sqlite/files.ts'
import { leaseFrom } from './sqlite/lease-row.ts'
import type { LiveLog } from './sqlite/live-log.ts'
import { LiveLogs } from './sqlite/live-logs.ts'
import type { Removal } from './sqlite/message.ts'
import { PreparedBatch } from './sqlite/prepared-batch.ts'
import { Reader } from './sqlite/reader.ts'
import { SearchChannel } from './sqlite/search/search-channel.ts'
import { searchLogs } from './sqlite/search/search-logs.ts'
import type { SqliteOptions } from './sqlite/sqlite-options.ts'
import { WriterChannel } from './sqlite/writer-channel.ts'
import {
  type Batch,
  type Lease,
  type LeaseTerms,
  NO_FENCE,
  type Receipt,
  type SessionQuery,
  type Store,
  type TextMatches,
  type TextQuery,
  type TrimPoint,
} from './store.ts'
import { UPCASTS } from './upcast.ts'

/** A store in one folder: a database with a writer thread, and one file per blob. */
export async function sqliteStore(options: SqliteOptions): Promise<Store> {
  const { directory, durability = 'power', maxBytes, upcasts = UPCASTS, monotonic } = options
  const files = filesIn(directory)
  const settings = { directory, durability, maxBytes, entryVersion: SCHEMA_VERSION }
  const channel = await WriterChannel.start(settings)
  const reader = new Reader(files.database, upcasts)
  try {
    const time = new OpenTime(reader.lastReceiptAt(), monotonic)
    const blobs = new Blobs(files.blobs, durability === 'power')
    return new SqliteStore({ channel, reader, blobs, search: new SearchChannel(files) }, time)
  } catch (thrown) {
    reader.close()
    await channel.close()
    throw thrown
  }
}

type Parts = { channel: WriterChannel; reader: Reader; blobs: Blobs; search: SearchChannel }

class SqliteStore extends RecordReads implements Store {
  readonly #channel: WriterChannel
  readonly #reader: Reader
  readonly #blobs: Blobs
  readonly #search: SearchChannel
  readonly #logs: LiveLogs
  readonly #committer: Committer
  /** Idempotency keys of writes in flight. */
  readonly #taking = new Map<string, Promise<Receipt>>()
  readonly #time: OpenTime
  readonly #leases: Leases

  constructor({ channel, reader, blobs, search }: Parts, time: OpenTime) {
    super(reader, reader)
    this.#channel = channel
    this.#reader = reader
    this.#blobs = blobs
    this.#search = search
    this.#time = time
    this.#leases = new Leases(time)
    this.#logs = new LiveLogs(reader)
    this.#committer = new Committer(channel, () => {
      this.#reader.recheck()
      this.#logs.distrust()
    })
  }

  get blobs(): BlobSink {
    return this.#blobs
  }

  async append(session: string, batch: Batch, fence = NO_FENCE): Promise<void> {
    const taken = batch.receipts?.find((receipt) => this.#holder(receipt) !== undefined)
    if (taken) throw keyTaken(taken)
    // Not awaited: the frames would stay in memory until they are written.
    return this.#append(session, batch, fence)
  }

  async create(
    session: string,
    batch: Batch,
    receipt?: Receipt,
    terms?: LeaseTerms,
  ): Promise<Receipt | undefined> {
    const held = receipt && this.#holder(receipt)
    if (held) return held
    // An existing session is a conflict, whatever its lease.
    checkContinues(session, this.#logs.open(session).head, batch.entries)
    await this.#append(session, { ...batch, ...(receipt && { receipts: [receipt] }) }, NO_FENCE, terms)
    return receipt
  }

  /** Goes through the queue of writes, so that every earlier batch is committed first. */
  async acquire(session: string, owner: string, ttlMs: number): Promise<Lease> {
    const log = this.#logs.open(session)
    if (log.n === undefined) {
      this.#logs.release(log)
      throw sessionNotFound(session)
    }
    this.#leases.checkFree(session, log.owner, owner)
    const fence = log.fence + 1
    await this.#write(...this.#prepare(session, { entries: [] }, log.fence, { owner, ttlMs }))
    return { fence }
  }

  async renew(owner: string, ttlMs: number): Promise<void> {
    this.#leases.extend(owner, ttlMs)
  }

  async release(owner: string): Promise<void> {
    this.#leases.end(owner)
  }

  /** A long log takes many reads; other tasks run between them. */
  async read(
    session: string,
    after: number,
    limit: number,
    maxBytes = READ_BYTES,
  ): Promise<readonly Entry[]> {
    const recent = this.#logs.get(session)?.recentEntries(after, limit, maxBytes)
    if (recent) return recent
    await setImmediate()
    return this.#reader.read(session, after, limit, maxBytes)
  }

  async readTexts(session: string, after: number, maxBytes = READ_BYTES): Promise<readonly string[]> {
    const recent = this.#logs.get(session)?.recentTexts(after, maxBytes)
    if (recent) return recent
    await setImmediate()
    return this.#reader.readTexts(session, after, maxBytes)
  }

  async readSize(session: string, after: number, limit: number, maxBytes = READ_BYTES): Promise<number> {
    const isInMemory = this.#logs.get(session)?.hasRecent(after)
    return isInMemory ? 0 : this.#reader.readSize(session, after, limit, maxBytes)
  }

  async head(session: string): Promise<number> {
    return this.#logs.get(session)?.committed ?? this.#reader.storedLog(session)?.head ?? 0
  }

  async changed(session: string, after: number, signal: AbortSignal): Promise<void> {
    const log = this.#logs.open(session)
    if (log.committed <= after && !signal.aborted) await log.wait(after, signal)
    this.#logs.release(log)
  }

  async receipt(scope: string, key: string): Promise<Receipt | undefined> {
    return this.#reader.receipt(receiptId(scope, key))
  }

  async record(session: string): Promise<SessionRecord | undefined> {
    return this.#acknowledged(
      () => this.#reader.record(session),
      (record) => record !== undefined && this.#isAhead(record),
    )
  }

  async search(query: TextQuery): Promise<TextMatches> {
    return searchLogs(this.#search, this, query)
  }

  async records(query: SessionQuery): Promise<readonly SessionRecord[]> {
    const { acquirableBy } = query
    const notOf = acquirableBy === undefined ? [] : this.#leases.othersThan(acquirableBy)
    return this.#acknowledged(
      () => this.#reader.records(query, notOf),
      (records) => records.some((record) => this.#isAhead(record)),
    )
  }

  readBlob(ref: BlobRef, range?: ByteRange): AsyncGenerator<Uint8Array> {
    return this.#blobs.read(ref, (content) => this.#reader.isBlob(ref.id, content), range)
  }

  async trim(session: string, point: TrimPoint, fence = NO_FENCE): Promise<void> {
    const log = this.#fenced(session, fence)
    if (log.n !== undefined) await this.#write(log, { kind: 'trim', n: log.n, ...point })
    log.recent.length = 0
    this.#logs.release(log)
  }

  probe(): Promise<void> {
    return this.#committer.write({ kind: 'probe' })
  }

  forgetReceipts(ms: number): Promise<void> {
    return this.#committer.write({ kind: 'forget', before: this.#time.now() - ms })
  }

  async delete(session: string, fence = NO_FENCE): Promise<void> {
    // The fence of a damaged session cannot be compared.
    const fenced = () => this.#fenced(session, fence).n
    const n = orIfDamaged(session, fenced, () => this.#reader.number(session))
    const log = this.#logs.restart(session)
    if (n === undefined) this.#logs.release(log)
    else await this.#write(log, { kind: 'delete', n, id: session })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#committer.close()
    await this.#search.close()
    // The last connection to close checkpoints the database, so it must be the writer.
    this.#reader.close()
    await this.#channel.close()
    this.#logs.close()
  }

  /**
   * The reader sees a commit before its acknowledgement, but entries are served only up to the last acknowledged one.
   * Waits for the acknowledgement, so that the head of a record can always be read.
   */
  async #acknowledged<T>(read: () => T, isAhead: (found: T) => boolean): Promise<T> {
    for (;;) {
      const found = read()
      const { underway } = this.#committer
      if (!underway || !isAhead(found)) return found
      await underway
    }
  }

  #isAhead({ id, head }: SessionRecord): boolean {
    const log = this.#logs.get(id)
    return log !== undefined && head > log.committed
  }

  /** The receipt of a key, stored or in flight. */
  #holder({ scope, key }: Receipt): Promise<Receipt> | Receipt | undefined {
    const id = receiptId(scope, key)
    return this.#taking.get(id) ?? this.#reader.receipt(id)
  }

  /** No await between the check and this, so concurrent calls cannot both find the key free. */
  async #append(session: string, batch: Batch, fence: number, terms?: LeaseTerms): Promise<void> {
    const written = this.#write(...this.#prepare(session, batch, fence, terms))
    const { receipts } = batch
    if (!receipts || receipts.length === 0) return written
    const ids = receipts.map(({ scope, key }) => receiptId(scope, key))
    for (const [index, receipt] of receipts.entries()) {
      const taken = written.then(() => receipt)
      // The caller gets the error from the returned promise.
      taken.catch(() => undefined)
      this.#taking.set(ids[index] ?? '', taken)
    }
    try {
      await written
    } finally {
      for (const id of ids) this.#taking.delete(id)
    }
  }

  /** Appends a batch to the queue of writes. With `terms`, the session starts with a lease. */
  #prepare(session: string, batch: Batch, fence: number, terms?: LeaseTerms): [LiveLog, PreparedBatch] {
    const log = this.#fenced(session, fence)
    checkContinues(session, log.head, batch.entries)
    const n = log.n ?? this.#logs.nextSession()
    const lease = leaseFrom(log, batch, terms)
    const prepared = new PreparedBatch({ n, id: session }, log.n === undefined, batch, {
      now: this.#time.now(),
      contentOf: (blob) => this.#blobs.takeSum(blob),
      lease,
    })
    log.n = n
    if (lease) Object.assign(log, lease)
    if (terms) this.#leases.extend(terms.owner, terms.ttlMs)
    log.head += batch.entries.length
    return [log, prepared]
  }

  /** The log of a session, for a write with this fence. */
  #fenced(session: string, fence: number): LiveLog {
    const log = this.#logs.open(session)
    if (log.fence !== fence) this.#logs.release(log)
    checkFence(session, log.fence, fence)
    return log
  }

  async #write(log: LiveLog, work: PreparedBatch | Removal): Promise<void> {
    log.pending++
    try {
      await this.#committer.write(work)
      if (work.kind === 'batch') {
        this.#logs.committed(log, work)
        this.#search.changed()
      } else if (work.kind !== 'forget') this.#search.removed(work.n)
    } finally {
      log.pending--
      this.#logs.release(log)
    }
  }
}
