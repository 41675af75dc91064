import type { ByteRange } from '../model/byte-range.ts'
import type { BlobRef, BlobSink, Entry, SessionRecord } from '../model/index.ts'
import { MainstemError } from '../model/index.ts'
import { checkContinues } from './check-continues.ts'
import type { NodeStore } from './nodes.ts'
import { Blobs } from './postgres/blobs.ts'
import { Changes } from './postgres/changes.ts'
import { Committer } from './postgres/committer.ts'
import { Database, type DatabaseOptions } from './postgres/database.ts'
import { Leases } from './postgres/leases.ts'
import { LogReader } from './postgres/log-reader.ts'
import { prepareSchema } from './postgres/migrate.ts'
import { Nodes } from './postgres/nodes.ts'
import { Places } from './postgres/places.ts'
import { PreparedBatch } from './postgres/prepared-batch.ts'
import { RecordReader } from './postgres/record-reader.ts'
import { Removals } from './postgres/removals.ts'
import { Indexer } from './postgres/search/indexer.ts'
import { searchLogs } from './postgres/search/search-logs.ts'
import { WordIndex } from './postgres/search/word-index.ts'
import { MARGIN_MS, SharedTime } from './postgres/shared-time.ts'
import { Tails } from './postgres/tails.ts'
import { READ_BYTES } from './read-bytes.ts'
import { RecordReads } from './record-reads.ts'
import { storageFailed } from './storage-failed.ts'
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
import { UPCASTS, type Upcasts } from './upcast.ts'

export interface PostgresOptions extends DatabaseOptions {
  /** The failures that an acknowledged entry survives. `power` refuses a server that may lose commits in a power cut. */
  durability?: 'power' | 'process'
  /** Converts entries of older schema versions. */
  upcasts?: Upcasts
  /** A clock in milliseconds for keys and leases. By default keys have the system's, and leases the database's. */
  monotonic?: () => number
}

/** A store in one schema of a PostgreSQL database. Several servers can share it. */
export async function postgresStore(
  options: PostgresOptions,
): Promise<Store & { readonly nodes: NodeStore }> {
  const { durability = 'power', upcasts = UPCASTS, monotonic } = options
  const database = await Database.open(options)
  try {
    await prepareSchema(database, { durable: durability === 'power' })
    const time = await SharedTime.start(database, monotonic)
    const store = new PostgresStore(database, { time, upcasts, monotonic })
    await store.start()
    return store
  } catch (thrown) {
    await database[Symbol.asyncDispose]()
    throw thrown
  }
}

/** The number of texts per read. */
const TEXTS = 512

/** The size of the row that `probe` inserts and rolls back, to check for free space. */
const PROBE_BYTES = 64 * 1024

interface StoreParts {
  time: SharedTime
  upcasts: Upcasts
  monotonic: (() => number) | undefined
}

class PostgresStore extends RecordReads implements Store {
  readonly blobs: BlobSink
  readonly nodes: NodeStore
  readonly #database: Database
  readonly #time: SharedTime
  readonly #blobs: Blobs
  readonly #logs: LogReader
  readonly #records: RecordReader
  readonly #leases: Leases
  readonly #removals: Removals
  readonly #tails: Tails
  readonly #changes: Changes
  readonly #committer: Committer
  readonly #words: WordIndex
  readonly #indexer: Indexer

  constructor(database: Database, { time, upcasts, monotonic }: StoreParts) {
    const now = () => monotonic?.() ?? null
    const records = new RecordReader(database, now)
    const logs = new LogReader(database, upcasts)
    super(records, logs)
    const places = new Places(database)
    this.#database = database
    this.#time = time
    this.#blobs = new Blobs(database)
    this.blobs = this.#blobs
    this.#logs = logs
    this.#records = records
    this.#leases = new Leases(database, places, now)
    this.#removals = new Removals(database)
    this.#tails = new Tails((session) => this.#logs.head(session))
    const nodes = new Nodes(database, now)
    this.nodes = nodes
    this.#changes = new Changes(database, this.#tails, () => nodes.commits.wake())
    this.#words = new WordIndex(database)
    this.#indexer = new Indexer(this.#words)
    const committed = (batch: PreparedBatch) => {
      this.#tails.committed(batch)
      this.#changes.publish(batch.session)
      this.#indexer.changed()
    }
    this.#committer = new Committer({ database, places, now, committed })
  }

  async start(): Promise<void> {
    await this.#blobs.sweep()
    await this.#database.listener.start()
    this.#indexer.changed()
  }

  // Not awaited here, or the frames would stay in memory until they are written.
  async append(session: string, batch: Batch, fence = NO_FENCE): Promise<void> {
    checkContinues(session, (batch.entries[0]?.seq ?? 0) - 1, batch.entries)
    return this.#committer.commit(new PreparedBatch(session, batch, { fence, now: this.#time.now() }))
  }

  async create(
    session: string,
    batch: Batch,
    receipt?: Receipt,
    terms?: LeaseTerms,
  ): Promise<Receipt | undefined> {
    checkContinues(session, (batch.entries[0]?.seq ?? 0) - 1, batch.entries)
    const keyed = { ...batch, ...(receipt && { receipts: [receipt] }) }
    const circumstances = { fence: NO_FENCE, now: this.#time.now(), begin: { terms } }
    try {
      await this.#committer.commit(new PreparedBatch(session, keyed, circumstances))
      return receipt
    } catch (thrown) {
      const isRefused = thrown instanceof MainstemError && thrown.code === 'conflict'
      const held = isRefused && receipt ? await this.receipt(receipt.scope, receipt.key) : undefined
      if (held) return held
      throw thrown
    }
  }

  acquire(session: string, owner: string, ttlMs: number): Promise<Lease> {
    return this.#committer.alone(session, () => this.#leases.acquire(session, owner, ttlMs))
  }

  renew(owner: string, ttlMs: number): Promise<void> {
    return this.#writing(() => this.#leases.renew(owner, ttlMs))
  }

  release(owner: string): Promise<void> {
    return this.#writing(() => this.#leases.release(owner))
  }

  async read(
    session: string,
    after: number,
    limit: number,
    maxBytes = READ_BYTES,
  ): Promise<readonly Entry[]> {
    const recent = this.#tails.recentEntries(session, after, limit, maxBytes)
    return recent ?? this.#logs.read(session, after, limit, maxBytes)
  }

  async readTexts(session: string, after: number, maxBytes = READ_BYTES): Promise<readonly string[]> {
    const recent = this.#tails.recentTexts(session, after, maxBytes)
    return recent ?? this.#logs.readTexts(session, after, TEXTS, maxBytes)
  }

  async readSize(session: string, after: number, limit: number, maxBytes = READ_BYTES): Promise<number> {
    return this.#tails.hasRecent(session, after) ? 0 : this.#logs.readSize(session, after, limit, maxBytes)
  }

  head(session: string): Promise<number> {
    return this.#logs.head(session)
  }

  changed(session: string, after: number, signal: AbortSignal): Promise<void> {
    return this.#tails.changed(session, after, signal)
  }

  receipt(scope: string, key: string): Promise<Receipt | undefined> {
    return this.#records.receipt(scope, key)
  }

  record(session: string): Promise<SessionRecord | undefined> {
    return this.#records.record(session)
  }

  records(query: SessionQuery): Promise<readonly SessionRecord[]> {
    return this.#records.records(query)
  }

  search(query: TextQuery): Promise<TextMatches> {
    return searchLogs({ database: this.#database, index: this.#words, reader: this.#logs }, query)
  }

  readBlob(ref: BlobRef, range?: ByteRange): AsyncGenerator<Uint8Array> {
    return this.#blobs.read(ref, range)
  }

  async trim(session: string, point: TrimPoint, fence = NO_FENCE): Promise<void> {
    await this.#committer.alone(session, () => this.#removals.trim(session, point, fence))
    this.#tails.forget(session)
    this.#changes.publish(session)
  }

  async probe(): Promise<void> {
    await this.#writing(() => this.#database.probe(PROBE_BYTES))
  }

  forgetReceipts(ms: number): Promise<void> {
    return this.#writing(() => this.#removals.forgetReceipts(this.#time.now() - ms - MARGIN_MS))
  }

  async delete(session: string, fence = NO_FENCE): Promise<void> {
    await this.#committer.alone(session, () => this.#removals.delete(session, fence))
    this.#tails.forget(session)
    this.#changes.publish(session)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#committer.close()
    this.#tails.close()
    this.#time[Symbol.dispose]()
    await this.#changes[Symbol.asyncDispose]()
    // Together: the end of the database ends a step that waits for its return.
    await Promise.all([this.#indexer[Symbol.asyncDispose](), this.#database[Symbol.asyncDispose]()])
  }

  async #writing<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (thrown) {
      throw storageFailed('cannot write to the store', thrown)
    }
  }
}
