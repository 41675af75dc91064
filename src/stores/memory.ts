import type { AuditFact } from '../model/access.ts'
import { type BlobRef, type Entry, MainstemError, type SessionRecord } from '../model/index.ts'
import { isFailed } from '../model/outcome/is-failed.ts'
import type { AcceptedPrompt } from '../model/session/queue-preview.ts'
import type { ByteRange } from '../model/text/byte-range.ts'
import { contentSize } from '../model/text/content-size.ts'
import { AccessRows } from './access-rows.ts'
import { CallRows } from './calls/call-rows.ts'
import { addDailyUsage, dayOf } from './daily-usage.ts'
import { Leases, OpenTime } from './leases.ts'
import { MemoryAccess } from './memory/access.ts'
import { MemoryBlobs } from './memory/blobs.ts'
import { MemoryCalls } from './memory/calls.ts'
import { MemoryLog } from './memory/log.ts'
import { BLOB_PIECE, READ_BYTES, RECORD_BYTES } from './read-bytes.ts'
import { receiptId } from './receipts.ts'
import { checkContinues, checkFence, keyTaken, sessionNotFound, storeClosed } from './refusals.ts'
import { matchesIn } from './search.ts'
import {
  type Batch,
  type Charge,
  type DailyUsage,
  FIRST_FENCE,
  type JournalFrame,
  type Lease,
  type LeaseTerms,
  NO_FENCE,
  type Receipt,
  type SearchLag,
  type SessionQuery,
  type Store,
  type StoredState,
  type TextMatches,
  type TextQuery,
  type TrimPoint,
  type TypedEntries,
  type TypeQuery,
} from './store.ts'

/** A store in the memory of this process, for the library, tests and short-lived runs. */
export function memoryStore(monotonic?: () => number): Store {
  return new MemoryStore(new OpenTime(0, monotonic))
}

/** Texts serialised at a time. */
const TEXTS = 512

class MemoryStore implements Store {
  /** In order of creation. */
  readonly #logs = new Map<string, MemoryLog>()
  readonly #receipts = new Map<string, { receipt: Receipt; at: number }>()
  /** Principals, by native conversation. */
  readonly #owners = new Map<string, Set<string>>()
  readonly #accounts = new Map<string, DailyUsage>()
  readonly blobs = new MemoryBlobs()
  readonly #access = new MemoryAccess()
  readonly access = new AccessRows(this.#access)
  readonly #calls = new MemoryCalls(this.#access)
  readonly calls = new CallRows(this.#calls)
  #isClosed = false
  #commits = 0
  readonly #time: OpenTime
  readonly #leases: Leases

  constructor(time: OpenTime) {
    this.#time = time
    this.#leases = new Leases(time)
  }

  async probe(): Promise<void> {
    // Memory has no limit to check.
  }

  async append(session: string, batch: Batch, fence = NO_FENCE): Promise<void> {
    this.#checkFence(session, fence)
    this.#append(session, batch)
  }

  /** Contains no await, so nothing can run between the checks and the write. */
  #append(session: string, batch: Batch): MemoryLog {
    const log = this.#log(session)
    const { entries, receipts, charges, facts } = batch
    checkContinues(session, log.head, entries)
    const taken = receipts?.find(({ scope, key }) => this.#receipts.has(receiptId(scope, key)))
    if (taken) throw keyTaken(taken)
    if (receipts) for (const receipt of receipts) this.#take(receipt)
    if (charges) for (const charge of charges) this.#charge(charge)
    if (facts) this.#access.add(facts)
    if (batch.calls) this.#calls.add(batch.calls)
    if (batch.record) this.#own(batch.record)
    log.append(batch, ++this.#commits)
    if (batch.calls?.length) this.calls.wake()
    return log
  }

  async create(
    session: string,
    batch: Batch,
    receipt?: Receipt,
    terms?: LeaseTerms,
  ): Promise<Receipt | undefined> {
    const held = receipt && this.#receipts.get(receiptId(receipt.scope, receipt.key))?.receipt
    if (held) return held
    checkContinues(session, this.#logs.get(session)?.head ?? 0, batch.entries)
    this.#checkFence(session, NO_FENCE)
    const log = this.#append(session, batch)
    if (receipt) this.#take(receipt)
    if (terms) this.#lease(log, FIRST_FENCE, terms)
    return receipt
  }

  async acquire(session: string, owner: string, ttlMs: number): Promise<Lease> {
    const log = this.#logs.get(session)
    if (!log?.exists) throw sessionNotFound(session)
    this.#leases.checkFree(session, log.owner, owner)
    this.#lease(log, log.fence + 1, { owner, ttlMs })
    return { fence: log.fence }
  }

  async renew(owner: string, ttlMs: number): Promise<void> {
    this.#leases.extend(owner, ttlMs)
  }

  async release(owner: string): Promise<void> {
    this.#leases.end(owner)
  }

  async read(
    session: string,
    after: number,
    limit: number,
    maxBytes = READ_BYTES,
  ): Promise<readonly Entry[]> {
    return this.#logs.get(session)?.read(after, limit, maxBytes) ?? []
  }

  async readTexts(session: string, after: number, maxBytes = READ_BYTES): Promise<readonly string[]> {
    return (await this.read(session, after, TEXTS, maxBytes)).map((entry) => JSON.stringify(entry))
  }

  /** All entries are in memory already: reading them is as quick. */
  async readTypes(_session: string, { after: end }: TypeQuery): Promise<TypedEntries> {
    return { entries: [], end }
  }

  async readSize(): Promise<number> {
    return 0
  }

  async head(session: string): Promise<number> {
    return this.#logs.get(session)?.head ?? 0
  }

  async changed(session: string, after: number, signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw storeClosed()
    await this.#log(session).changed(after, signal)
  }

  async receipt(scope: string, key: string): Promise<Receipt | undefined> {
    return this.#receipts.get(receiptId(scope, key))?.receipt
  }

  async record(session: string): Promise<SessionRecord | undefined> {
    return this.#logs.get(session)?.record
  }

  async queuedPrompt(session: string, turn: number): Promise<AcceptedPrompt | undefined> {
    return this.#logs.get(session)?.queued(turn)
  }

  async search({ principal, terms, limit }: TextQuery): Promise<TextMatches> {
    const found: { entry: Entry; order: number }[] = []
    for (const log of this.#logs.values()) {
      if (log.state?.principal !== principal) continue
      const earliest = log.record?.earliest ?? 1
      const matches = matchesIn(log.read(earliest - 1, log.head, Number.POSITIVE_INFINITY), terms)
      for (const entry of matches) found.push({ entry, order: log.orderOf(entry.seq) })
    }
    const newest = found.sort((a, b) => b.order - a.order || b.entry.seq - a.entry.seq).slice(0, limit)
    return { entries: newest.map(({ entry }) => entry), isComplete: true }
  }

  async records(query: SessionQuery): Promise<readonly SessionRecord[]> {
    const { principals, status, asking, queued, failed, acquirableBy, before } = query
    const { limit, maxBytes = RECORD_BYTES } = query
    const others = acquirableBy === undefined ? [] : this.#leases.othersThan(acquirableBy)
    const newestFirst = [...this.#logs.values()].reverse()
    const from = before === undefined ? 0 : newestFirst.findIndex(({ state }) => state?.id === before) + 1
    const found: SessionRecord[] = []
    let bytes = 0
    for (const { record, owner } of newestFirst.slice(from)) {
      if (found.length === limit) break
      if (owner !== undefined && others.includes(owner)) continue
      if (!record || !(principals ?? [record.principal]).includes(record.principal)) continue
      if ((status ?? record.status) !== record.status) continue
      if (asking !== undefined && asking !== record.requests.length > 0) continue
      if (queued !== undefined && queued !== record.queue.length > 0) continue
      if (failed !== undefined && failed !== isFailed(record)) continue
      bytes += contentSize(record)
      if (bytes > maxBytes && found.length > 0) break
      found.push(record)
    }
    return found
  }

  async searchLag(): Promise<SearchLag> {
    return { backlog: 0 }
  }

  async counts(): Promise<ReadonlyMap<SessionRecord['status'], number>> {
    const counts = new Map<SessionRecord['status'], number>()
    for (const { state } of this.#logs.values()) {
      if (state) counts.set(state.status, (counts.get(state.status) ?? 0) + 1)
    }
    return counts
  }

  async nativeOwners(native: string): Promise<readonly string[]> {
    return [...(this.#owners.get(native) ?? [])].sort()
  }

  async dailyUsage(principal?: string): Promise<readonly DailyUsage[]> {
    const all = [...this.#accounts.values()]
    return principal === undefined ? all : all.filter((usage) => usage.principal === principal)
  }

  async readJournal(
    session: string,
    after: number,
    limit: number,
    maxBytes = READ_BYTES,
  ): Promise<readonly JournalFrame[]> {
    return this.#logs.get(session)?.readJournal(after, limit, maxBytes) ?? []
  }

  async *readBlob({ id }: BlobRef, range?: ByteRange): AsyncGenerator<Uint8Array> {
    const blob = this.blobs.get(id)
    if (!blob) throw new MainstemError('not_found', `there is no blob ${id}`)
    const bytes = blob.subarray(range?.start, range?.end)
    for (let at = 0; at < bytes.length; at += BLOB_PIECE) yield bytes.subarray(at, at + BLOB_PIECE)
  }

  async trim(session: string, point: TrimPoint, fence = NO_FENCE): Promise<void> {
    this.#checkFence(session, fence)
    this.#logs.get(session)?.trim(point)
  }

  async forgetReceipts(ms: number): Promise<void> {
    const before = this.#time.now() - ms
    for (const [id, { at }] of this.#receipts) if (at < before) this.#receipts.delete(id)
  }

  async delete(session: string, fence = NO_FENCE, fact?: AuditFact): Promise<void> {
    this.#checkFence(session, fence)
    if (fact) this.#access.add([fact])
    const log = this.#logs.get(session)
    this.#logs.delete(session)
    for (const kept of this.#receipts.values()) {
      if (kept.receipt.session !== session) continue
      const { answer: _, ...receipt } = kept.receipt
      kept.receipt = receipt
    }
    this.#calls.removeOf(session)
    log?.close()
    for (const id of log?.blobs ?? []) this.blobs.delete(id)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    for (const log of this.#logs.values()) log.close()
    this.#logs.clear()
  }

  #checkFence(session: string, fence: number): void {
    checkFence(session, this.#logs.get(session)?.fence ?? NO_FENCE, fence)
  }

  #lease(log: MemoryLog, fence: number, { owner, ttlMs }: LeaseTerms): void {
    log.fence = fence
    log.owner = owner
    this.#leases.extend(owner, ttlMs)
  }

  #own({ principal, nativeSessionId, announcedSessionId, resumedFrom }: StoredState): void {
    for (const native of [nativeSessionId, announcedSessionId, resumedFrom]) {
      if (native === undefined) continue
      const owners = this.#owners.get(native) ?? new Set()
      this.#owners.set(native, owners.add(principal))
    }
  }

  #take(receipt: Receipt): void {
    this.#receipts.set(receiptId(receipt.scope, receipt.key), { receipt, at: this.#time.now() })
  }

  #charge({ at, ...charge }: Charge): void {
    const usage: DailyUsage = { ...charge, day: dayOf(at) }
    const { principal, agent, model = '', day } = usage
    const id = JSON.stringify([principal, agent, model, day])
    const before = this.#accounts.get(id)
    this.#accounts.set(id, before ? addDailyUsage(before, usage) : usage)
  }

  #log(session: string): MemoryLog {
    let log = this.#logs.get(session)
    if (!log) {
      log = new MemoryLog()
      this.#logs.set(session, log)
    }
    return log
  }
}
