import { MainstemError } from '../model/index.ts'

/** The position of one subscriber of a session. */
export interface ReadPosition {
  /** The last entry that the subscriber has read; entries after it are kept. */
  readonly after: number
  /** Starts to read. Throws if the subscriber has started or closed before. */
  start(): void
  /** Marks all entries up to `seq` as read. */
  advance(seq: number): Promise<void>
  /** Stops reading. */
  close(): Promise<void>
  /** Stops reading, unless the subscriber has started. */
  closeUnread(): Promise<void>
}

/**
 * Evicts the entries that every subscriber of a session has read. A subscriber that is garbage-collected counts as
 * closed, so that a turn that is never read does not keep all later entries.
 */
export class UnreadRetention {
  readonly #evict: (seq: number) => Promise<void>
  readonly #positions = new Set<ReadPosition>()
  // A finalizer has no caller to report to. Entries that cannot be evicted stay in memory.
  readonly #collected = new FinalizationRegistry<ReadPosition>(
    (position) => void position.close().catch(() => undefined),
  )
  /** The last entry that any subscriber has read. */
  #furthest = 0
  #evictedTo = 0

  /** `evict` removes all entries up to a `seq`. */
  constructor(evict: (seq: number) => Promise<void>) {
    this.#evict = evict
  }

  /** The last entry that was evicted. */
  get evictedTo(): number {
    return this.#evictedTo
  }

  /** Adds a subscriber. Keeps all entries after `after` for it. */
  subscribe(after: number): ReadPosition {
    const position: ReadPosition = new UnreadPosition(after, {
      advanced: () => this.#advanced(position),
      closed: () => {
        this.#positions.delete(position)
        return this.#advanced(position)
      },
      refuse: () => this.#refuse(),
    })
    this.#positions.add(position)
    return position
  }

  /** Closes the position when `owner` is garbage-collected. */
  closeWith(owner: object, position: ReadPosition): void {
    this.#collected.register(owner, position)
  }

  async #advanced(position: ReadPosition): Promise<void> {
    this.#furthest = Math.max(this.#furthest, position.after)
    // Without subscribers, entries after the furthest position are still unread.
    const edge = Math.min(this.#furthest, ...Array.from(this.#positions, ({ after }) => after))
    if (edge <= this.#evictedTo) return
    this.#evictedTo = edge
    await this.#evict(edge)
  }

  #refuse(): never {
    const message =
      "the entries of this turn were read before or evicted; use keep: 'all' to read a turn again"
    throw new MainstemError('cursor_gone', message, { earliest: this.#evictedTo + 1 })
  }
}

interface PositionListener {
  advanced(): Promise<void>
  closed(): Promise<void>
  refuse(): never
}

class UnreadPosition implements ReadPosition {
  after: number
  readonly #listener: PositionListener
  #state: 'new' | 'reading' | 'closed' = 'new'

  constructor(after: number, listener: PositionListener) {
    this.after = after
    this.#listener = listener
  }

  start(): void {
    if (this.#state !== 'new') this.#listener.refuse()
    this.#state = 'reading'
  }

  advance(seq: number): Promise<void> {
    this.after = seq
    return this.#listener.advanced()
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    await this.#listener.closed()
  }

  async closeUnread(): Promise<void> {
    if (this.#state === 'new') await this.close()
  }
}
