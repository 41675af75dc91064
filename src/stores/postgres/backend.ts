/// <reference lib="esnext.disposable" preserve="true" />

import type { AuditFact } from '../../model/access.ts'
import type { BlobRef } from '../../model/index.ts'
import type { ByteRange } from '../../model/text/byte-range.ts'
import { AccessRows } from '../access-rows.ts'
import { CallRows } from '../calls/call-rows.ts'
import type { Backend } from '../log-store/backend.ts'
import type { LogReads } from '../log-store/log-reads.ts'
import type { Tails } from '../log-store/tails.ts'
import { searchOff } from '../refusals.ts'
import type { Row } from '../row.ts'
import type { SearchLag, TextMatches, TextQuery, TrimPoint } from '../store.ts'
import { PostgresAccess } from './access.ts'
import { BlobRows } from './blobs.ts'
import { PostgresCalls } from './calls.ts'
import { Changes } from './changes.ts'
import { toColumn } from './columns.ts'
import { type Database, WRITERS } from './database.ts'
import { Backoff, isDuplicate, isTransient } from './failures.ts'
import { HeldLeases, type LeaseProof, LeaseRows } from './leases.ts'
import { Nodes } from './nodes.ts'
import { PostgresReader } from './reader.ts'
import { Removals } from './removals.ts'
import { WordIndexer } from './search/indexer.ts'
import { searchLogs } from './search/search-logs.ts'
import { WordIndex } from './search/word-index.ts'
import { journaledOf, type PostgresPlace, type PostgresRun, placeIn } from './session-change.ts'
import { MARGIN_MS, type SharedTime } from './shared-time.ts'
import { commitStatement } from './statement.ts'

/** The size of the row that `probe` inserts and rolls back, to check for free space. */
const PROBE_BYTES = 64 * 1024

interface PostgresParts {
  time: SharedTime
  /** The clock of a test. */
  monotonic: (() => number) | undefined
  search: boolean
}

/** One schema of a PostgreSQL database. Several servers can share it, so the database decides what is accepted. */
export class PostgresBackend implements Backend<PostgresPlace> {
  readonly lanes = WRITERS
  readonly encodesFrames = true
  readonly rows: PostgresReader
  readonly access: AccessRows
  readonly calls: CallRows
  readonly blobs: BlobRows
  readonly nodes: Nodes
  readonly #database: Database
  readonly #time: SharedTime
  readonly #now: () => number | null
  readonly #held: HeldLeases
  readonly #leases: LeaseRows
  readonly #removals: Removals
  readonly #words: WordIndex
  /** Absent if no index is kept. */
  readonly #indexer: WordIndexer | undefined
  #changes: Changes | undefined

  constructor(database: Database, { time, monotonic, search }: PostgresParts) {
    this.#database = database
    this.#time = time
    this.#now = () => monotonic?.() ?? null
    this.#held = new HeldLeases(monotonic ?? (() => performance.now()))
    this.rows = new PostgresReader(database, this.#now)
    this.access = new AccessRows(new PostgresAccess(database, this.#now))
    this.calls = new CallRows(new PostgresCalls(database))
    this.blobs = new BlobRows(database)
    this.nodes = new Nodes(database, this.#now)
    this.#leases = new LeaseRows(database, this.#held, this.#now)
    this.#removals = new Removals(database, this.#now)
    this.#words = new WordIndex(database)
    this.#indexer = search ? new WordIndexer(this.#words) : undefined
  }

  async start(): Promise<void> {
    await this.blobs.sweep()
    await this.#database.listener.start()
    this.#indexer?.changed()
  }

  follow(tails: Tails): void {
    this.#changes = new Changes(this.#database, tails, () => this.nodes.commits.wake())
  }

  now(): number {
    return this.#time.now()
  }

  /** A broken connection leaves runs in doubt, and they are sent again. */
  async commit(runs: readonly PostgresRun[]): Promise<ReadonlySet<string>> {
    const sentAt = this.#held.now()
    for (const run of runs) {
      if (run.place) run.place.sentAt = sentAt
      if (run.place && run.releases) run.place.lease = undefined
    }
    const { sql, values } = commitStatement(runs, this.#now())
    const backoff = new Backoff(this.#database.patienceMs, this.#database.closed)
    for (;;) {
      try {
        const { rows } = await this.#database.write(sql, values)
        const ids = new Set(rows.map(({ id }) => id))
        const accepted = runs.filter(({ session }) => ids.has(toColumn(session)))
        for (const { terms } of accepted) if (terms) this.#held.extend(terms.owner, terms.ttlMs, sentAt)
        return new Set(accepted.map(({ session }) => session))
      } catch (thrown) {
        // Another server took one of the keys at the same moment. Nothing was written; each run is asked by itself.
        if (isDuplicate(thrown)) return runs.length > 1 ? this.#commitEach(runs) : new Set()
        if (!isTransient(thrown)) throw thrown
        for (const run of runs) run.inDoubt = true
        if (!(await backoff.wait())) throw thrown
      }
    }
  }

  placeIn(counters: Row): PostgresPlace {
    return placeIn(counters)
  }

  placeAfter(run: PostgresRun): PostgresPlace {
    const { head: before = 0, writes = 0, inherited = 0 } = run.place ?? {}
    const journaled = journaledOf(run) ?? (run.place ? run.place.journaled : 0)
    const { fenceAfter: fence, added } = run
    return {
      fence,
      writes: writes + 1,
      head: before + added,
      inherited,
      journaled,
      lease: this.#leaseAfter(run),
    }
  }

  /** Only the holder of the fence could have written, and it wrote nothing else since. */
  isApplied(run: PostgresRun, place: PostgresPlace): boolean {
    const { fence, writes } = this.placeAfter(run)
    if (place.fence === fence) return place.writes === writes
    // Another owner has the session: the next lease shows which writes were stored.
    return place.fence === fence + 1 && place.inherited >= writes
  }

  /** Without notifications of other servers, nothing is taken for granted. */
  isOwn({ lease }: PostgresPlace): boolean {
    return lease !== undefined && this.#database.listener.isConnected && this.#held.covers(lease)
  }

  committed(session: string): void {
    this.#changes?.publish(session)
    this.#indexer?.changed()
  }

  acquire(session: string, owner: string, ttlMs: number): Promise<PostgresPlace> {
    return this.#leases.acquire(session, owner, ttlMs)
  }

  renew(owner: string, ttlMs: number): Promise<void> {
    return this.#leases.renew(owner, ttlMs)
  }

  release(owner: string): Promise<void> {
    return this.#leases.release(owner)
  }

  async trim(session: string, point: TrimPoint, fence: number): Promise<void> {
    await this.#removals.trim(session, point, fence)
    this.#changes?.publish(session)
  }

  async delete(session: string, fence: number, fact: AuditFact | undefined): Promise<void> {
    await this.#removals.delete(session, fence, fact)
    this.#changes?.publish(session)
  }

  forgetReceipts(ms: number): Promise<void> {
    return this.#removals.forgetReceipts(this.#time.now() - ms - MARGIN_MS)
  }

  async search(query: TextQuery, reader: LogReads): Promise<TextMatches> {
    if (!this.#indexer) throw searchOff()
    return searchLogs({ database: this.#database, index: this.#words, reader }, query)
  }

  async searchLag(): Promise<SearchLag> {
    return this.#indexer ? this.#words.lag() : { backlog: 0 }
  }

  readBlob(ref: BlobRef, range?: ByteRange): AsyncGenerator<Uint8Array> {
    return this.blobs.read(ref, range)
  }

  probe(writes: boolean): Promise<void> {
    return this.#database.probe(writes ? PROBE_BYTES : undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#time[Symbol.dispose]()
    await this.#changes?.[Symbol.asyncDispose]()
    // Together: the end of the database ends a step that waits for its return.
    await Promise.all([this.#indexer?.[Symbol.asyncDispose](), this.#database[Symbol.asyncDispose]()])
  }

  async #commitEach(runs: readonly PostgresRun[]): Promise<ReadonlySet<string>> {
    const accepted = new Set<string>()
    for (const run of runs) for (const session of await this.commit([run])) accepted.add(session)
    return accepted
  }

  /** A commit with a new lease grants it; any other proves that the session has the same lease as before. */
  #leaseAfter({ terms, place, inDoubt, releases }: PostgresRun): LeaseProof | undefined {
    if (inDoubt || releases) return undefined
    if (terms) return { owner: terms.owner, at: this.#held.now() }
    return place?.lease && { owner: place.lease.owner, at: place.sentAt ?? place.lease.at }
  }
}
