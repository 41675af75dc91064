import type { Timers } from '../drivers/driver.ts'
import type { Entry } from '../model/index.ts'
import type { JournalFrame, Store } from '../stores/store.ts'
import { ByteBudget, type Share } from './byte-budget.ts'
import { followed, isEnd, isEndText } from './follow.ts'

/** The default where the memory of the machine is unknown. */
const DEFAULT_BYTES = 64 * 1024 * 1024

/** Entries and bytes of one page; a single entry may be larger. */
const PIECE = 512
const PIECE_BYTES = 256 * 1024

/** No raw frame is larger: longer lines become blobs. */
const FRAME_BYTES = 16 * 1024 * 1024

/** How long a request may wait for memory before it is refused. A started stream waits without limit. */
export const ROOM_WAIT_MS = 10_000

export interface ReplayOptions {
  signal?: AbortSignal
  /** Refuses with `overloaded` after this time without memory; waits without limit by default. */
  waitMs?: number
}

const NEVER = new AbortController().signal

/**
 * Reads logs in pages. A page counts against a budget that all readers share, from before it is loaded until its reader
 * asks for the next one. Large pages have a separate budget, so that they do not delay small ones.
 */
export class LogReader {
  readonly #store: Store
  readonly #small: ByteBudget
  readonly #large: ByteBudget
  /** Apart from the others: a reader of raw frames already holds a share of a page. */
  readonly #frames: ByteBudget
  /** Aborts the readers of a log that is deleted. */
  readonly #readers = new Map<string, Set<AbortController>>()

  constructor(store: Store, timers: Timers, bytes = DEFAULT_BYTES) {
    this.#store = store
    this.#small = new ByteBudget(bytes / 3, timers)
    this.#large = new ByteBudget(bytes / 3, timers)
    this.#frames = new ByteBudget(bytes / 3, timers)
  }

  /** Entries after a cursor, replayed and then live, until `session.ended`, the signal, or the end of the log. */
  follow(id: string, after: number, signal: AbortSignal): AsyncGenerator<readonly Entry[]> {
    return this.#untilDeleted(id, signal, (either) => {
      const read = (cursor: number) => this.#store.read(id, cursor, PIECE, PIECE_BYTES)
      const room = (cursor: number) => this.#room(id, cursor, PIECE, either)
      return followed({ store: this.#store, id, after, signal: either, room, read, isLast: isEnd })
    })
  }

  /** Like `follow`, as stored JSON texts. Readers at the same cursor share lists. */
  followTexts(id: string, after: number, signal: AbortSignal): AsyncGenerator<readonly string[]> {
    return this.#untilDeleted(id, signal, (either) => {
      const read = (cursor: number) => this.#store.readTexts(id, cursor, PIECE_BYTES)
      const room = (cursor: number) => this.#room(id, cursor, PIECE, either)
      return followed({ store: this.#store, id, after, signal: either, room, read, isLast: isEndText })
    })
  }

  /** Entries after a cursor up to another, or up to the end of the log. */
  async *replay(
    id: string,
    after: number,
    last: number,
    { signal = NEVER, waitMs }: ReplayOptions = {},
  ): AsyncGenerator<readonly Entry[]> {
    for (let cursor = after; cursor < last; ) {
      const limit = Math.min(PIECE, last - cursor)
      const share = await this.#room(id, cursor, limit, signal, waitMs)
      if (!share) return
      try {
        const entries = await this.#store.read(id, cursor, limit, PIECE_BYTES)
        const end = entries.at(-1)
        if (!end) return
        yield entries
        cursor = end.seq
      } finally {
        share.release()
      }
    }
  }

  /** Raw frames after the one with this number, up to another. */
  async *replayJournal(
    id: string,
    after: number,
    last: number,
    { signal = NEVER, waitMs }: ReplayOptions = {},
  ): AsyncGenerator<readonly JournalFrame[]> {
    for (let cursor = after; cursor < last; ) {
      // The size is known only after decompression.
      const share = await this.#frames.take(FRAME_BYTES, signal, waitMs)
      if (!share) return
      try {
        const frames = await this.#store.readJournal(id, cursor, PIECE, PIECE_BYTES)
        share.shrink(frames.reduce((sum, { text }) => sum + text.length, 0))
        const end = frames.at(-1)
        if (!end) return
        yield end.frame <= last ? frames : frames.filter(({ frame }) => frame <= last)
        cursor = end.frame
      } finally {
        share.release()
      }
    }
  }

  /** Disconnects the readers of a deleted log. */
  deleted(id: string): void {
    for (const reader of this.#readers.get(id) ?? []) reader.abort()
  }

  async #room(
    id: string,
    after: number,
    limit: number,
    signal: AbortSignal,
    waitMs?: number,
  ): Promise<Share | undefined> {
    const bytes = await this.#store.readSize(id, after, limit, PIECE_BYTES)
    return (bytes > PIECE_BYTES ? this.#large : this.#small).take(bytes, signal, waitMs)
  }

  async *#untilDeleted<T>(
    id: string,
    signal: AbortSignal,
    read: (signal: AbortSignal) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const deleted = new AbortController()
    const readers = this.#readers.get(id) ?? new Set()
    this.#readers.set(id, readers.add(deleted))
    try {
      yield* read(AbortSignal.any([signal, deleted.signal]))
    } finally {
      readers.delete(deleted)
      if (readers.size === 0) this.#readers.delete(id)
    }
  }
}
