import type { Timers } from '../drivers/driver.ts'
import type { Entry, EventType, MainstemError } from '../model/index.ts'
import { FRAME_BYTES } from '../model/text/large-value.ts'
import type { JournalFrame, Store } from '../stores/store.ts'
import { ByteBudget, type Share } from './byte-budget.ts'
import { followed, isEnd, isEndText } from './follow.ts'

/** The default where the memory of the machine is unknown. */
const DEFAULT_BYTES = 64 * 1024 * 1024

/** Entries and bytes of one page; a single entry may be larger. */
const PIECE = 512
const PIECE_BYTES = 256 * 1024

/** How long a request may wait for memory before it is refused. A started stream waits without limit. */
export const ROOM_WAIT_MS = 10_000

export interface ReplayOptions {
  signal?: AbortSignal
  /** Refuses with `overloaded` after this time without memory; waits without limit by default. */
  waitMs?: number
  /** Entries of other types may be left out, but never the last one. */
  types?: ReadonlySet<EventType> | undefined
}

type HolderOf = () => Promise<string | undefined>

const NEVER = new AbortController().signal

/** A reader that follows a log. */
interface Follower {
  readonly deleted: AbortController
  /** Aborts when the log can no longer be written. */
  failed: AbortController
  /** Fires when the reader must not wait for the next entry. */
  idle: AbortSignal
}

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
  readonly #followers = new Map<string, Set<Follower>>()
  /** Why logs cannot be written now. */
  readonly #failures = new Map<string, MainstemError>()

  readonly #repair: (id: string) => Promise<void>

  /** `repair` makes an unwritable log writable, or throws. */
  constructor(
    store: Store,
    timers: Timers,
    bytes = DEFAULT_BYTES,
    repair: (id: string) => Promise<void> = async () => undefined,
  ) {
    this.#store = store
    this.#repair = repair
    this.#small = new ByteBudget(bytes / 3, timers)
    this.#large = new ByteBudget(bytes / 3, timers)
    this.#frames = new ByteBudget(bytes / 3, timers)
  }

  /** Entries after a cursor, replayed and then live, until `session.ended`, the signal, or the end of the log. */
  follow(
    id: string,
    after: number,
    signal: AbortSignal,
    types?: ReplayOptions['types'],
  ): AsyncGenerator<readonly Entry[]> {
    if (types) return this.#followTypes(id, after, signal, types)
    const read = (cursor: number) => this.#store.read(id, cursor, PIECE, PIECE_BYTES)
    return this.#follow(id, after, signal, read, isEnd)
  }

  /** Replays the entries of these types, then follows all entries. */
  async *#followTypes(
    id: string,
    after: number,
    signal: AbortSignal,
    types: ReplayOptions['types'],
  ): AsyncGenerator<readonly Entry[]> {
    const head = await this.#store.head(id)
    let last: Entry | undefined
    for await (const entries of this.replay(id, after, head, { signal, types })) {
      yield entries
      last = entries.at(-1)
    }
    const cursor = last?.seq ?? after
    // The log was deleted, or its reader left.
    if (cursor < head || (last && isEnd(last))) return
    yield* this.follow(id, cursor, signal)
  }

  /** Like `follow`, as stored JSON texts. Readers at the same cursor share lists. */
  followTexts(id: string, after: number, signal: AbortSignal): AsyncGenerator<readonly string[]> {
    const read = (cursor: number) => this.#store.readTexts(id, cursor, PIECE_BYTES)
    return this.#follow(id, after, signal, read, isEndText)
  }

  /** Entries after a cursor up to another, or up to the end of the log. */
  async *replay(
    id: string,
    after: number,
    last: number,
    { signal = NEVER, waitMs, types }: ReplayOptions = {},
  ): AsyncGenerator<readonly Entry[]> {
    const holderOf = this.#holderOf(id)
    for (let cursor = after; cursor < last; ) {
      if (types && last - cursor > PIECE) {
        const share = await this.#small.take(PIECE_BYTES, signal, { waitMs, holder: await holderOf() })
        if (!share) return
        try {
          const query = { types, after: cursor, last: last - 1, limit: PIECE, maxBytes: PIECE_BYTES }
          const { entries, end } = await this.#store.readTypes(id, query)
          if (entries.length > 0) yield entries
          if (end > cursor) {
            cursor = end
            continue
          }
        } finally {
          share.release()
        }
      }
      const limit = Math.min(PIECE, last - cursor)
      const share = await this.#room(id, cursor, limit, signal, { waitMs, holderOf })
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
    const holderOf = this.#holderOf(id)
    for (let cursor = after; cursor < last; ) {
      // The size is known only after decompression.
      const share = await this.#frames.take(FRAME_BYTES, signal, { waitMs, holder: await holderOf() })
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
    this.#failures.delete(id)
    for (const { deleted } of this.#followers.get(id) ?? []) deleted.abort()
  }

  /** The log cannot be written: its readers get the error after the last stored entry. */
  unwritable(id: string, error: MainstemError): void {
    this.#failures.set(id, error)
    for (const { failed } of this.#followers.get(id) ?? []) failed.abort()
  }

  /** The log can be written again. */
  writable(id: string): void {
    this.#failures.delete(id)
  }

  /** Why the log cannot be written now. */
  failureOf(id: string): MainstemError | undefined {
    return this.#failures.get(id)
  }

  async #room(
    id: string,
    after: number,
    limit: number,
    signal: AbortSignal,
    { waitMs, holderOf }: { waitMs?: number | undefined; holderOf: HolderOf },
  ): Promise<Share | undefined> {
    const bytes = await this.#store.readSize(id, after, limit, PIECE_BYTES)
    if (bytes === 0) return this.#small.take(0, signal)
    const holder = await holderOf()
    return (bytes > PIECE_BYTES ? this.#large : this.#small).take(bytes, signal, { waitMs, holder })
  }

  /** The principal whose session is read. It is looked up once, and only if entries are read from the store. */
  #holderOf(id: string): HolderOf {
    let holder: Promise<string | undefined> | undefined
    return () => {
      holder ??= this.#store.record(id).then((record) => record?.principal)
      return holder
    }
  }

  async *#follow<T>(
    id: string,
    after: number,
    signal: AbortSignal,
    read: (cursor: number) => Promise<readonly T[]>,
    isLast: (one: T) => boolean,
  ): AsyncGenerator<readonly T[]> {
    const deleted = new AbortController()
    const either = AbortSignal.any([signal, deleted.signal])
    const follower: Follower = { deleted, ...whileWritable(either) }
    if (this.#failures.has(id)) follower.failed.abort()
    const followers = this.#followers.get(id) ?? new Set()
    this.#followers.set(id, followers.add(follower))
    const idle = () => {
      // The log was repaired before this reader had read all of it.
      if (follower.failed.signal.aborted && !this.#failures.has(id))
        Object.assign(follower, whileWritable(either))
      return follower.idle
    }
    const isUnwritable = () => this.#failures.has(id)
    const repair = () => this.#repair(id)
    const holderOf = this.#holderOf(id)
    const room = (cursor: number) => this.#room(id, cursor, PIECE, either, { holderOf })
    const shared = { store: this.#store, id, after, signal: either, idle, isUnwritable, repair }
    try {
      yield* followed({ ...shared, room, read, isLast })
    } finally {
      followers.delete(follower)
      if (followers.size === 0) this.#followers.delete(id)
    }
  }
}

function whileWritable(signal: AbortSignal): Pick<Follower, 'failed' | 'idle'> {
  const failed = new AbortController()
  return { failed, idle: AbortSignal.any([signal, failed.signal]) }
}
