/// <reference lib="esnext.disposable" preserve="true" />

import type { AuditFact } from '../../model/access.ts'
import { type BlobRef, type BlobSink, type Entry, MainstemError } from '../../model/index.ts'
import type { ByteRange } from '../../model/text/byte-range.ts'
import type { AccessStore } from '../access.ts'
import type { CallStore } from '../calls.ts'
import type { NodeStore } from '../nodes.ts'
import { READ_BYTES } from '../read-bytes.ts'
import { storageFailed } from '../refusals.ts'
import {
  type Batch,
  type JournalFrame,
  type Lease,
  type LeaseTerms,
  NO_FENCE,
  type Receipt,
  type SearchLag,
  type Store,
  type TextMatches,
  type TextQuery,
  type TrimPoint,
  type TypedEntries,
  type TypeQuery,
} from '../store.ts'
import type { Upcasts } from '../upcast.ts'
import type { Backend, SessionPlace } from './backend.ts'
import { GroupCommit } from './group-commit.ts'
import { LogReads } from './log-reads.ts'
import { Places } from './places.ts'
import { prepareBatch } from './prepared-batch.ts'
import { RecordReads } from './record-reads.ts'
import type { Tails } from './tails.ts'

/** The number of texts per read. */
const TEXTS = 512

/** A store over the rows of a database. */
export class LogStore<P extends SessionPlace> extends RecordReads implements Store {
  readonly nodes?: NodeStore
  readonly #backend: Backend<P>
  readonly #logs: LogReads
  readonly #places: Places<P>
  readonly #tails: Tails
  readonly #commits: GroupCommit<P>

  constructor(backend: Backend<P>, upcasts: Upcasts) {
    super(backend.rows)
    this.#backend = backend
    if (backend.nodes) this.nodes = backend.nodes
    this.#logs = new LogReads(backend.rows, upcasts)
    this.#places = new Places(backend)
    this.#commits = new GroupCommit(backend, this.#places, (session) => this.#logs.head(session))
    this.#tails = this.#commits.tails
    backend.follow?.(this.#tails)
  }

  get access(): AccessStore {
    return this.#backend.access
  }

  get calls(): CallStore {
    return this.#backend.calls
  }

  get blobs(): BlobSink {
    return this.#backend.blobs
  }

  // Not awaited here, or the frames would stay in memory until they are written.
  async append(session: string, batch: Batch, fence = NO_FENCE): Promise<void> {
    return this.#commits.add({
      session,
      batch: prepareBatch(session, batch, { fence, backend: this.#backend }),
    })
  }

  async create(
    session: string,
    batch: Batch,
    receipt?: Receipt,
    terms?: LeaseTerms,
  ): Promise<Receipt | undefined> {
    const keyed = { ...batch, ...(receipt && { receipts: [receipt] }) }
    const beginning = { fence: NO_FENCE, backend: this.#backend, begin: { terms } }
    try {
      await this.#commits.add({ session, batch: prepareBatch(session, keyed, beginning) })
      return receipt
    } catch (thrown) {
      const isRefused = thrown instanceof MainstemError && thrown.code === 'conflict'
      const held = isRefused && receipt ? await this.receipt(receipt.scope, receipt.key) : undefined
      if (held) return held
      throw thrown
    }
  }

  async acquire(session: string, owner: string, ttlMs: number): Promise<Lease> {
    const { fence } = await this.#commits.alone(session, async () => {
      const place = await this.#backend.acquire(session, owner, ttlMs)
      this.#places.set(session, place)
      return place
    })
    return { fence }
  }

  renew(owner: string, ttlMs: number): Promise<void> {
    return writing(() => this.#backend.renew(owner, ttlMs))
  }

  release(owner: string): Promise<void> {
    return writing(() => this.#backend.release(owner))
  }

  async read(
    session: string,
    after: number,
    limit: number,
    maxBytes = READ_BYTES,
  ): Promise<readonly Entry[]> {
    const recent = this.#tails.entries(session, after, limit, maxBytes)
    return recent ?? this.#logs.read(session, { after, limit, maxBytes })
  }

  async readTexts(session: string, after: number, maxBytes = READ_BYTES): Promise<readonly string[]> {
    const recent = this.#tails.texts(session, after, maxBytes)
    return recent ?? this.#logs.readTexts(session, { after, limit: TEXTS, maxBytes })
  }

  readTypes(session: string, query: TypeQuery): Promise<TypedEntries> {
    return this.#logs.readTypes(session, query)
  }

  async readSize(session: string, after: number, limit: number, maxBytes = READ_BYTES): Promise<number> {
    if (this.#tails.has(session, after)) return 0
    return this.#backend.rows.logSize(session, { after, limit, maxBytes })
  }

  async head(session: string): Promise<number> {
    return this.#commits.ownHead(session) ?? this.#logs.head(session)
  }

  changed(session: string, after: number, signal: AbortSignal): Promise<void> {
    return this.#tails.changed(session, after, signal)
  }

  readJournal(
    session: string,
    after: number,
    limit: number,
    maxBytes = READ_BYTES,
  ): Promise<readonly JournalFrame[]> {
    return this.#logs.readJournal(session, { after, limit, maxBytes })
  }

  async search(query: TextQuery): Promise<TextMatches> {
    return this.#backend.search(query, this.#logs)
  }

  async searchLag(): Promise<SearchLag> {
    return this.#backend.searchLag()
  }

  readBlob(ref: BlobRef, range?: ByteRange): AsyncIterable<Uint8Array> {
    return this.#backend.readBlob(ref, range)
  }

  async trim(session: string, point: TrimPoint, fence = NO_FENCE): Promise<void> {
    await this.#commits.alone(session, () => this.#backend.trim(session, point, fence))
    this.#tails.forget(session)
  }

  async delete(session: string, fence = NO_FENCE, fact?: AuditFact): Promise<void> {
    await this.#commits.alone(session, async () => {
      this.#places.forget(session)
      await this.#backend.delete(session, fence, fact)
    })
    this.#tails.forget(session)
  }

  forgetReceipts(ms: number): Promise<void> {
    return writing(() => this.#backend.forgetReceipts(ms))
  }

  /** Writes only after a commit has failed: checks of a store that works must cost nothing. */
  async probe(): Promise<void> {
    await writing(() => this.#backend.probe(this.#commits.isFailing))
    this.#commits.isFailing = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#commits.close()
    this.#tails.close()
    await this.#backend[Symbol.asyncDispose]()
  }
}

async function writing<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (thrown) {
    throw storageFailed('cannot write to the store', thrown)
  }
}
