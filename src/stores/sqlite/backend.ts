/// <reference lib="esnext.disposable" preserve="true" />

import type { AuditFact } from '../../model/access.ts'
import type { BlobRef } from '../../model/index.ts'
import type { ByteRange } from '../../model/text/byte-range.ts'
import { AccessRows } from '../access-rows.ts'
import { CallRows } from '../calls/call-rows.ts'
import type { Leases, OpenTime } from '../leases.ts'
import type { Backend, SessionPlace } from '../log-store/backend.ts'
import type { CommitRun } from '../log-store/commit-run.ts'
import { headIn, type LogReads } from '../log-store/log-reads.ts'
import { READ_BYTES } from '../read-bytes.ts'
import { checkFence, orIfDamaged, searchOff, sessionNotFound } from '../refusals.ts'
import { integer, type Row } from '../row.ts'
import { NO_FENCE, type SearchLag, type TextMatches, type TextQuery, type TrimPoint } from '../store.ts'
import { SqliteAccess, timedFact } from './access.ts'
import type { BlobFiles } from './blobs.ts'
import { SqliteCalls } from './calls.ts'
import { addRun, type Commit, emptyCommit, type StoreChange } from './message.ts'
import type { SqliteReader } from './reader.ts'
import { type SearchChannel, searchLogs } from './search/search-channel.ts'
import type { WriterChannel } from './writer-channel.ts'

interface SqlitePlace extends SessionPlace {
  n: number
}

type SqliteRun = CommitRun<SqlitePlace>

interface SqliteParts {
  channel: WriterChannel
  reader: SqliteReader
  blobs: BlobFiles
  time: OpenTime
  leases: Leases
  /** Absent if no index is kept. */
  search?: SearchChannel
}

/** One folder: a database with a writer thread, and one file per blob. No other process writes, so commits are checked here. */
export class SqliteBackend implements Backend<SqlitePlace> {
  readonly lanes = 1
  /** The thread does it. */
  readonly encodesFrames = false
  readonly rows: SqliteReader
  readonly access: AccessRows
  readonly calls: CallRows
  readonly blobs: BlobFiles
  readonly #parts: SqliteParts
  readonly #begun = new WeakMap<SqliteRun, number>()
  #lastSession: number | undefined

  constructor(parts: SqliteParts) {
    this.#parts = parts
    this.rows = parts.reader
    this.access = new AccessRows(new SqliteAccess(parts.reader, parts.channel))
    this.calls = new CallRows(new SqliteCalls(parts.reader, parts.channel))
    this.blobs = parts.blobs
  }

  now(): number {
    return this.#parts.time.now()
  }

  async commit(runs: readonly SqliteRun[]): Promise<ReadonlySet<string>> {
    const accepted = new Set<string>()
    const message = emptyCommit()
    for (const run of runs) {
      if (!this.#isAccepted(run)) continue
      accepted.add(run.session)
      addRun(message, run.place?.n ?? this.#begin(run), run, this.blobs)
      if (run.terms) this.#parts.leases.extend(run.terms.owner, run.terms.ttlMs)
    }
    if (accepted.size > 0) await this.#write(message)
    return accepted
  }

  placeIn(row: Row): SqlitePlace {
    return { n: integer(row, 'n'), fence: integer(row, 'fence'), head: integer(row, 'head') }
  }

  placeAfter(run: SqliteRun): SqlitePlace {
    const n = run.place?.n ?? this.#begun.get(run) ?? 0
    return { n, fence: run.fenceAfter, head: (run.place?.head ?? 0) + run.added }
  }

  /** The thread always says whether it has committed. */
  isApplied(): boolean {
    return false
  }

  isOwn(): boolean {
    return true
  }

  committed(): void {
    this.#parts.search?.schedule.changed()
  }

  async acquire(session: string, owner: string, ttlMs: number): Promise<SqlitePlace> {
    const [row] = this.rows.counters([session])
    if (!row) throw sessionNotFound(session)
    const head = headIn(this.rows.sums, session, row)
    const { leases } = this.#parts
    leases.checkFree(session, typeof row.owner === 'string' ? row.owner : undefined, owner)
    leases.extend(owner, ttlMs)
    const [n, fence] = [integer(row, 'n'), integer(row, 'fence') + 1]
    await this.#write({ ...emptyCommit(), leases: [{ n, fence, owner }] })
    return { n, fence, head }
  }

  async renew(owner: string, ttlMs: number): Promise<void> {
    this.#parts.leases.extend(owner, ttlMs)
  }

  async release(owner: string): Promise<void> {
    this.#parts.leases.end(owner)
  }

  async trim(session: string, point: TrimPoint, fence: number): Promise<void> {
    const n = this.#fenced(session, fence)
    if (n !== undefined) await this.#remove({ kind: 'trim', n, ...point })
  }

  async delete(session: string, fence: number, fact: AuditFact | undefined): Promise<void> {
    // The fence of a damaged session cannot be compared.
    const n = orIfDamaged(
      session,
      () => this.#fenced(session, fence),
      () => this.rows.number(session),
    )
    if (n !== undefined) await this.#remove({ kind: 'delete', n, session, fact: fact && timedFact(fact) })
  }

  forgetReceipts(ms: number): Promise<void> {
    return this.#write({ kind: 'forget', table: 'receipt', before: this.now() - ms })
  }

  async search(query: TextQuery, logs: LogReads): Promise<TextMatches> {
    const { search } = this.#parts
    if (!search) throw searchOff()
    const read = (session: string, after: number, limit: number) =>
      logs.read(session, { after, limit, maxBytes: READ_BYTES })
    return searchLogs(search, { read }, query)
  }

  async searchLag(): Promise<SearchLag> {
    return this.#parts.search?.lag() ?? { backlog: 0 }
  }

  readBlob(ref: BlobRef, range?: ByteRange): AsyncGenerator<Uint8Array> {
    return this.blobs.read(ref, (content) => this.rows.isBlob(ref.id, content), range)
  }

  /** Changed nothing, so nothing depends on it. */
  probe(writes: boolean): Promise<void> {
    return this.#parts.channel.ask({ kind: 'probe', writes })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { channel, reader, search } = this.#parts
    await search?.close()
    // The last connection to close checkpoints the database, so it must be the writer.
    reader.close()
    await channel.close({ kind: 'close' })
  }

  #isAccepted({ session, place, fence, after, batches }: SqliteRun): boolean {
    for (const { receipts } of batches) for (const { id } of receipts) if (this.rows.receipt(id)) return false
    if (!place) return this.rows.number(session) === undefined
    return fence === place.fence && (after === undefined || after === place.head)
  }

  #begin(run: SqliteRun): number {
    this.#lastSession = (this.#lastSession ?? this.rows.lastSession()) + 1
    this.#begun.set(run, this.#lastSession)
    return this.#lastSession
  }

  /** The number of a session, for a write with this fence. */
  #fenced(session: string, fence: number): number | undefined {
    const [row] = this.rows.counters([session])
    if (row) headIn(this.rows.sums, session, row)
    checkFence(session, row ? integer(row, 'fence') : NO_FENCE, fence)
    return row && integer(row, 'n')
  }

  async #remove(removal: StoreChange & { n: number }): Promise<void> {
    await this.#write(removal)
    this.#parts.search?.removed(removal.n)
  }

  async #write(message: Commit | StoreChange): Promise<void> {
    try {
      await this.#parts.channel.ask(message)
    } catch (thrown) {
      this.#lastSession = undefined
      this.rows.recheck()
      throw thrown
    }
  }
}
