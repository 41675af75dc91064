import { type BlobRef, type BlobSink, type Entry, MainstemError, type SessionRecord } from '../model/index.ts'
import { checkContinues } from './check-continues.ts'
import { receiptId } from './receipt-id.ts'
import type { Batch, JournalFrame, Receipt, SessionQuery, SessionState, Store } from './store.ts'

/** Everything in this process's memory: for the library, for tests, and for runs nobody needs tomorrow. */
export function memoryStore(): Store {
  return new MemoryStore()
}

interface MemoryLog {
  entries: Entry[]
  journal: JournalFrame[]
  state: SessionState | undefined
  waiting: Set<() => void>
}

class MemoryStore implements Store {
  /** In order of creation. */
  readonly #logs = new Map<string, MemoryLog>()
  readonly #receipts = new Map<string, Receipt>()
  readonly #blobs = new Map<string, Uint8Array>()

  readonly blobs: BlobSink = { open: () => new MemoryBlob(this.#blobs) }

  async append(session: string, { entries, journal = [], record }: Batch): Promise<void> {
    const log = this.#log(session)
    checkContinues(session, log.entries.length, entries)
    for (const entry of entries) log.entries.push(entry)
    for (const frame of journal) log.journal.push(frame)
    if (record) log.state = record
    for (const wake of [...log.waiting]) wake()
  }

  async create(session: string, batch: Batch, receipt?: Receipt): Promise<Receipt | undefined> {
    // Nothing is awaited between the look and the write, so two who ask at once cannot both find the key free.
    const id = receipt && receiptId(receipt.scope, receipt.key)
    const held = id === undefined ? undefined : this.#receipts.get(id)
    if (held) return held
    checkContinues(session, this.#logs.get(session)?.entries.length ?? 0, batch.entries)
    if (receipt && id !== undefined) this.#receipts.set(id, receipt)
    await this.append(session, batch)
    return receipt
  }

  async read(session: string, after: number, limit: number): Promise<readonly Entry[]> {
    return this.#logs.get(session)?.entries.slice(after, after + limit) ?? []
  }

  async head(session: string): Promise<number> {
    return this.#logs.get(session)?.entries.length ?? 0
  }

  changed(session: string, after: number, signal: AbortSignal): Promise<void> {
    const log = this.#log(session)
    if (log.entries.length > after || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        log.waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      log.waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  }

  async receipt(scope: string, key: string): Promise<Receipt | undefined> {
    return this.#receipts.get(receiptId(scope, key))
  }

  async record(session: string): Promise<SessionRecord | undefined> {
    const log = this.#logs.get(session)
    return log?.state && { ...log.state, ...edges(log) }
  }

  async records({
    principal,
    status,
    asking,
    before,
    limit,
  }: SessionQuery): Promise<readonly SessionRecord[]> {
    const newestFirst = [...this.#logs.values()].reverse()
    const from = before === undefined ? 0 : newestFirst.findIndex(({ state }) => state?.id === before) + 1
    const found: SessionRecord[] = []
    for (const log of newestFirst.slice(from)) {
      const { state } = log
      if (found.length === limit) break
      if (!state || (principal !== undefined && state.principal !== principal)) continue
      if (status !== undefined && state.status !== status) continue
      if (asking !== undefined && asking !== state.requests.length > 0) continue
      found.push({ ...state, ...edges(log) })
    }
    return found
  }

  async readJournal(session: string, after: number, limit: number): Promise<readonly JournalFrame[]> {
    return (this.#logs.get(session)?.journal ?? []).filter((kept) => kept.frame > after).slice(0, limit)
  }

  async readBlob(ref: BlobRef): Promise<Uint8Array> {
    const bytes = this.#blobs.get(ref.id)
    if (!bytes) throw new MainstemError('not_found', `there is no blob ${ref.id}`)
    return bytes
  }

  async delete(session: string): Promise<void> {
    this.#logs.delete(session)
    for (const [id, receipt] of this.#receipts) if (receipt.session === session) this.#receipts.delete(id)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const log of this.#logs.values()) for (const wake of [...log.waiting]) wake()
    this.#logs.clear()
  }

  #log(session: string): MemoryLog {
    let log = this.#logs.get(session)
    if (!log) {
      log = { entries: [], journal: [], state: undefined, waiting: new Set() }
      this.#logs.set(session, log)
    }
    return log
  }
}

class MemoryBlob {
  readonly #blobs: Map<string, Uint8Array>
  readonly #chunks: Uint8Array[] = []
  #bytes = 0

  constructor(blobs: Map<string, Uint8Array>) {
    this.#blobs = blobs
  }

  write(chunk: Uint8Array): void {
    // The reader uses its chunk again, so this must be a copy.
    this.#chunks.push(chunk.slice())
    this.#bytes += chunk.length
  }

  async close(): Promise<BlobRef> {
    const ref: BlobRef = { id: `b${this.#blobs.size + 1}`, bytes: this.#bytes }
    const whole = new Uint8Array(this.#bytes)
    let at = 0
    for (const chunk of this.#chunks) {
      whole.set(chunk, at)
      at += chunk.length
    }
    this.#blobs.set(ref.id, whole)
    return ref
  }
}

function edges({ entries }: MemoryLog): Pick<SessionRecord, 'head' | 'updatedAt'> {
  return { head: entries.length, updatedAt: entries.at(-1)?.at ?? 0 }
}
