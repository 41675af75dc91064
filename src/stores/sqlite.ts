import {
  type BlobRef,
  type BlobSink,
  type Entry,
  SCHEMA_VERSION,
  type SessionRecord,
} from '../model/index.ts'
import { checkContinues } from './check-continues.ts'
import { receiptId } from './receipt-id.ts'
import { Blobs } from './sqlite/blobs.ts'
import { Committer } from './sqlite/committer.ts'
import { filesIn } from './sqlite/files.ts'
import type { LiveLog } from './sqlite/live-log.ts'
import { LiveLogs } from './sqlite/live-logs.ts'
import type { Delete, Durability, ReceiptRow } from './sqlite/message.ts'
import { PreparedBatch, receiptRow } from './sqlite/prepared-batch.ts'
import { Reader } from './sqlite/reader.ts'
import { UPCASTS, type Upcasts } from './sqlite/upcast.ts'
import { WriterChannel } from './sqlite/writer-channel.ts'
import type { Batch, JournalFrame, Receipt, SessionQuery, Store } from './store.ts'

export interface SqliteOptions {
  /** Made if it is not there. */
  directory: string
  /** What an acknowledged entry survives: a power cut, or only the end of this process. `power` by default. */
  durability?: Durability
  /** How large the database may become. Beyond it writing fails until something is deleted. */
  maxBytes?: number
  /** How entries of older schema versions become today's. */
  upcasts?: Upcasts
}

/** Everything in one folder: a database that a thread of its own writes, and a file for each blob. */
export async function sqliteStore(options: SqliteOptions): Promise<Store> {
  const { directory, durability = 'power', maxBytes, upcasts = UPCASTS } = options
  const files = filesIn(directory)
  const settings = { directory, durability, maxBytes, entryVersion: SCHEMA_VERSION }
  const channel = await WriterChannel.start(settings)
  const reader = new Reader(files.database, upcasts)
  try {
    return new SqliteStore(channel, reader, new Blobs(files.blobs, durability === 'power'))
  } catch (thrown) {
    reader.close()
    await channel.close()
    throw thrown
  }
}

class SqliteStore implements Store {
  readonly #channel: WriterChannel
  readonly #reader: Reader
  readonly #blobs: Blobs
  readonly #logs: LiveLogs
  readonly #committer: Committer
  /** Keys that are being taken. */
  readonly #taking = new Map<string, Promise<Receipt>>()

  constructor(channel: WriterChannel, reader: Reader, blobs: Blobs) {
    this.#channel = channel
    this.#reader = reader
    this.#blobs = blobs
    this.#logs = new LiveLogs(reader)
    this.#committer = new Committer(channel, () => {
      this.#reader.recheck()
      this.#logs.distrust()
    })
  }

  get blobs(): BlobSink {
    return this.#blobs
  }

  async append(session: string, batch: Batch): Promise<void> {
    await this.#write(...this.#prepare(session, batch))
  }

  async create(session: string, batch: Batch, receipt?: Receipt): Promise<Receipt | undefined> {
    if (!receipt) {
      await this.append(session, batch)
      return undefined
    }
    // Nothing is awaited between the look and the write, so two who ask at once cannot both find the key free.
    const id = receiptId(receipt.scope, receipt.key)
    const held = this.#taking.get(id) ?? this.#reader.receipt(id)
    if (held) return held
    const prepared = this.#prepare(session, batch, receiptRow(id, receipt))
    const taken = this.#write(...prepared).then(() => receipt)
    this.#taking.set(id, taken)
    try {
      return await taken
    } finally {
      this.#taking.delete(id)
    }
  }

  async read(session: string, after: number, limit: number): Promise<readonly Entry[]> {
    return this.#logs.get(session)?.readRecent(after, limit) ?? this.#reader.read(session, after, limit)
  }

  async head(session: string): Promise<number> {
    return this.#logs.get(session)?.committed ?? this.#reader.place(session)?.head ?? 0
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
    return this.#reader.record(session)
  }

  async records(query: SessionQuery): Promise<readonly SessionRecord[]> {
    return this.#reader.records(query)
  }

  async readJournal(session: string, after: number, limit: number): Promise<readonly JournalFrame[]> {
    return this.#reader.readJournal(session, after, limit)
  }

  readBlob(ref: BlobRef): Promise<Uint8Array> {
    return this.#blobs.read(ref)
  }

  async delete(session: string): Promise<void> {
    const { n } = this.#logs.open(session)
    const log = this.#logs.restart(session)
    if (n === undefined) this.#logs.release(log)
    else await this.#write(log, { kind: 'delete', n, id: session })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#committer.close()
    // Whoever closes last tidies up, and that must be the one who may write.
    this.#reader.close()
    await this.#channel.close()
    this.#logs.wakeAll()
  }

  /** Gives a batch its place behind everything that was given one before. */
  #prepare(session: string, batch: Batch, receipt?: ReceiptRow): [LiveLog, PreparedBatch] {
    const log = this.#logs.open(session)
    checkContinues(session, log.head, batch.entries)
    const n = log.n ?? this.#logs.nextSession()
    const prepared = new PreparedBatch({ n, id: session }, log.n === undefined, batch, receipt)
    log.n = n
    log.head += batch.entries.length
    return [log, prepared]
  }

  async #write(log: LiveLog, work: PreparedBatch | Delete): Promise<void> {
    log.pending++
    try {
      await this.#committer.write(work)
      if (work.kind === 'batch') this.#logs.committed(log, work.entries, work.chars)
    } finally {
      log.pending--
      this.#logs.release(log)
    }
  }
}
