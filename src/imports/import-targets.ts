import type { AuditFact } from '../model/access.ts'
import { BLOB_REFERENCE } from '../model/blob.ts'
import { blobsOf } from '../model/entry-blobs.ts'
import {
  type BlobRef,
  type BlobSink,
  type BlobWriter,
  type Entry,
  MainstemError,
  type SessionRecord,
} from '../model/index.ts'
import { importing } from '../model/owner.ts'
import type { Hash } from '../model/text/large-value.ts'
import type { Ownership } from '../sessions/recovery/ownership.ts'
import type { JournalFrame, SessionState, Store } from '../stores/store.ts'

/** The destination of the lines of an import. */
export interface ImportTarget {
  readonly blobs: BlobSink
  entries(entries: readonly Entry[]): Promise<void>
  frames(frames: readonly JournalFrame[]): Promise<void>
  /** Makes the session visible, with entries that end it, and stores the fact with it. */
  finish(state: SessionState, closing: readonly Entry[], fact: AuditFact | undefined): Promise<void>
  /** Removes what was written. */
  discard(): Promise<void>
}

/** A session that is not in the store. */
export class NewLog implements ImportTarget {
  readonly blobs: BlobSink
  readonly #store: Store
  readonly #ownership: Ownership
  readonly #state: SessionState
  readonly #remove: () => Promise<void>
  #isCreated = false

  constructor(store: Store, ownership: Ownership, state: SessionState, remove: () => Promise<void>) {
    this.#store = store
    this.#ownership = ownership
    this.#state = state
    this.#remove = remove
    this.blobs = store.blobs
  }

  async entries(entries: readonly Entry[]): Promise<void> {
    const { id } = this.#state
    if (this.#isCreated) return this.#append({ entries })
    const asked = this.#ownership.moment
    // Ended, so that no client can continue it, and without native ids, which belong to the principal.
    const {
      queue: _,
      nativeSessionId: __,
      announcedSessionId: ___,
      resumedFrom: ____,
      ...state
    } = this.#state
    const record = { ...state, principal: importing(state.principal), status: 'ended' as const }
    await this.#store.create(id, { entries, record }, undefined, this.#ownership.terms)
    this.#ownership.created(id, asked)
    this.#isCreated = true
  }

  frames(journal: readonly JournalFrame[]): Promise<void> {
    return this.#append({ entries: [], journal })
  }

  async finish(
    { queue: _, ...record }: SessionState,
    closing: readonly Entry[],
    fact: AuditFact | undefined,
  ): Promise<void> {
    await this.#append({ entries: closing, record, release: true, ...(fact && { facts: [fact] }) })
    this.#ownership.forget(record.id)
  }

  async discard(): Promise<void> {
    if (this.#isCreated) await this.#remove()
  }

  #append(batch: Parameters<Store['append']>[1]): Promise<void> {
    const { id } = this.#state
    return this.#ownership.write(id, (fence) => this.#store.append(id, batch, fence))
  }
}

const PAGE = 512

/** A session that the store has: every line must be there already. */
export class KnownLog implements ImportTarget {
  /** Gives blobs the digest of their content as id. */
  readonly blobs: BlobSink
  readonly #store: Store
  readonly #record: SessionRecord
  #entries: readonly Entry[] = []
  #frames: readonly JournalFrame[] = []

  readonly #newHash: () => Hash

  constructor(store: Store, record: SessionRecord, newHash: () => Hash) {
    this.#store = store
    this.#newHash = newHash
    this.blobs = { open: () => new DigestedBlob(newHash()), remove: async () => undefined }
    this.#record = record
  }

  async entries(entries: readonly Entry[]): Promise<void> {
    const { id, earliest = 1 } = this.#record
    for (const entry of entries) {
      if (entry.seq < earliest) continue
      if (this.#entries.length === 0) this.#entries = await this.#store.read(id, entry.seq - 1, PAGE)
      const [stored, ...rest] = this.#entries
      this.#entries = rest
      if (!stored || withoutBlobs(stored) !== withoutBlobs(entry)) throw differs(id, `entry ${entry.seq}`)
      await this.#compareBlobs(stored, entry)
    }
  }

  /** An older export has no blobs, and a session that was imported from it has no references. */
  async #compareBlobs(stored: Entry, given: Entry): Promise<void> {
    const wanted = blobsOf(given)
    if (wanted.length === 0) return
    const found = new Set<string>()
    for (const ref of blobsOf(stored)) {
      const hash = this.#newHash()
      for await (const piece of this.#store.readBlob(ref)) hash.update(piece)
      found.add(hash.digest('hex'))
    }
    if (!wanted.every(({ id }) => found.has(id)))
      throw differs(this.#record.id, `large texts of entry ${given.seq}`)
  }

  async frames(frames: readonly JournalFrame[]): Promise<void> {
    const { id, earliestFrame = 1 } = this.#record
    for (const frame of frames) {
      if (frame.frame < earliestFrame) continue
      if (this.#frames.length === 0) this.#frames = await this.#store.readJournal(id, frame.frame - 1, PAGE)
      const [stored, ...rest] = this.#frames
      this.#frames = rest
      if (!stored || withoutIds(stored) !== withoutIds(frame)) throw differs(id, `frame ${frame.frame}`)
    }
  }

  async finish(): Promise<void> {
    // The session is complete already.
  }

  async discard(): Promise<void> {
    // Nothing was written.
  }
}

/** The text of an entry without what depends on the ids of its blobs. */
function withoutBlobs({ blobs: _, ...entry }: Entry): string {
  if (!('blob' in entry.event)) return withoutIds(entry)
  const { blob: __, ...event } = entry.event
  return withoutIds({ ...entry, event })
}

function withoutIds(value: Entry | JournalFrame): string {
  return JSON.stringify(value).replaceAll(BLOB_REFERENCE, '')
}

class DigestedBlob implements BlobWriter {
  readonly #hash: Hash
  #bytes = 0

  constructor(hash: Hash) {
    this.#hash = hash
  }

  write(chunk: Uint8Array): void {
    this.#hash.update(chunk)
    this.#bytes += chunk.length
  }

  async close(): Promise<BlobRef> {
    return { id: this.#hash.digest('hex'), bytes: this.#bytes }
  }

  discard(): void {
    // Nothing was written.
  }
}

function differs(id: string, what: string): MainstemError {
  return new MainstemError('conflict', `session ${id} exists, and its ${what} is another`, {
    advice: 'Delete the session first, if the import is to replace it.',
  })
}
