import { type BlobRef, type BlobSink, type Entry, MainstemError } from '../model/index.ts'
import type { JournalFrame, Receipt, Store } from './store.ts'

/** Everything in this process's memory: for the library, for tests, and for runs nobody needs tomorrow. */
export function memoryStore(): Store {
  return new MemoryStore()
}

interface MemoryLog {
  entries: Entry[]
  journal: JournalFrame[]
  waiting: Set<() => void>
}

class MemoryStore implements Store {
  readonly #logs = new Map<string, MemoryLog>()
  readonly #receipts = new Map<string, Receipt>()
  readonly #blobs = new Map<string, Uint8Array>()

  readonly blobs: BlobSink = { open: () => new MemoryBlob(this.#blobs) }

  async append(
    session: string,
    entries: readonly Entry[],
    journal: readonly JournalFrame[] = [],
  ): Promise<void> {
    const log = this.#log(session)
    checkContinues(session, log.entries.length, entries)
    for (const entry of entries) log.entries.push(entry)
    for (const frame of journal) log.journal.push(frame)
    for (const wake of [...log.waiting]) wake()
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

  async claim(receipt: Receipt): Promise<Receipt> {
    const id = receiptId(receipt.scope, receipt.key)
    const held = this.#receipts.get(id) ?? receipt
    this.#receipts.set(id, held)
    return held
  }

  async receipt(scope: string, key: string): Promise<Receipt | undefined> {
    return this.#receipts.get(receiptId(scope, key))
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
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const log of this.#logs.values()) for (const wake of [...log.waiting]) wake()
    this.#logs.clear()
  }

  #log(session: string): MemoryLog {
    let log = this.#logs.get(session)
    if (!log) {
      log = { entries: [], journal: [], waiting: new Set() }
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

/** JSON keeps the two apart whatever characters they hold. */
function receiptId(scope: string, key: string): string {
  return JSON.stringify([scope, key])
}

/** A gap or a repeat in a log can never be mended later, so it is refused now. */
function checkContinues(session: string, head: number, entries: readonly Entry[]): void {
  let expected = head
  for (const entry of entries) {
    if (entry.seq !== ++expected) {
      throw new MainstemError(
        'conflict',
        `log ${session} is at ${expected - 1}, entry ${entry.seq} does not follow`,
      )
    }
  }
}
