import { type Entry, MainstemError, type SessionRecord } from '../../model/index.ts'
import { importing } from '../../model/owner.ts'
import type { JournalFrame, SessionState, Store } from '../../stores/store.ts'
import type { Ownership } from '../recovery/ownership.ts'

/** The destination of the lines of an import. */
export interface ImportTarget {
  entries(entries: readonly Entry[]): Promise<void>
  frames(frames: readonly JournalFrame[]): Promise<void>
  /** Makes the session visible, with entries that end it. */
  finish(state: SessionState, closing: readonly Entry[]): Promise<void>
  /** Removes what was written. */
  discard(): Promise<void>
}

/** A session that is not in the store. */
export class NewLog implements ImportTarget {
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
  }

  async entries(given: readonly Entry[]): Promise<void> {
    const { id } = this.#state
    const entries = given.map(withoutBlobs)
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

  async finish({ queue: _, ...record }: SessionState, closing: readonly Entry[]): Promise<void> {
    await this.#append({ entries: closing, record, release: true })
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
  readonly #store: Store
  readonly #record: SessionRecord
  #entries: readonly Entry[] = []
  #frames: readonly JournalFrame[] = []

  constructor(store: Store, record: SessionRecord) {
    this.#store = store
    this.#record = record
  }

  async entries(entries: readonly Entry[]): Promise<void> {
    const { id, earliest = 1 } = this.#record
    for (const entry of entries) {
      if (entry.seq < earliest) continue
      if (this.#entries.length === 0) this.#entries = await this.#store.read(id, entry.seq - 1, PAGE)
      const [stored, ...rest] = this.#entries
      this.#entries = rest
      const known = JSON.stringify(stored)
      if (known !== JSON.stringify(entry) && known !== JSON.stringify(withoutBlobs(entry)))
        throw differs(id, `entry ${entry.seq}`)
    }
  }

  async frames(frames: readonly JournalFrame[]): Promise<void> {
    const { id, earliestFrame = 1 } = this.#record
    for (const frame of frames) {
      if (frame.frame < earliestFrame) continue
      if (this.#frames.length === 0) this.#frames = await this.#store.readJournal(id, frame.frame - 1, PAGE)
      const [stored, ...rest] = this.#frames
      this.#frames = rest
      if (JSON.stringify(stored) !== JSON.stringify(frame)) throw differs(id, `frame ${frame.frame}`)
    }
  }

  async finish(): Promise<void> {
    // The session is complete already.
  }

  async discard(): Promise<void> {
    // Nothing was written.
  }
}

/**
 * An entry without its references to blobs. An export has no blobs, and a reference to one that is in the store would
 * make the bytes of another session readable.
 */
function withoutBlobs({ blobs: _, ...entry }: Entry): Entry {
  if (!('blob' in entry.event)) return entry
  const { blob: __, ...event } = entry.event
  return { ...entry, event }
}

function differs(id: string, what: string): MainstemError {
  return new MainstemError('conflict', `session ${id} exists, and its ${what} is another`, {
    advice: 'Delete the session first, if the import is to replace it.',
  })
}
