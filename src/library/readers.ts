import { MainstemError } from '../model/index.ts'

/** Where one reader of a session is. */
export interface Place {
  /** The last entry before what is kept for it. */
  readonly after: number
  /** Begins to read. Refused when that was done before, or when nothing was to be read any more. */
  take(): void
  /** Has read all up to this entry. */
  pass(seq: number): Promise<void>
  /** Reads no more. */
  leave(): Promise<void>
  /** The same, unless it has begun. */
  leaveUnread(): Promise<void>
}

/**
 * The readers of a session that keeps only what is unread: what all of them have passed is let go. One that nobody
 * holds any more has left, so that a turn which is never read does not keep everything behind it.
 */
export class Readers {
  readonly #letGo: (seq: number) => Promise<void>
  readonly #places = new Set<Place>()
  // Nobody is there to be told when it fails: what could not be let go stays.
  readonly #held = new FinalizationRegistry<Place>((place) => void place.leave().catch(() => undefined))
  /** How far any of them came. */
  #furthest = 0
  #edge = 0

  /** `letGo` is told up to which entry nothing is needed any more. */
  constructor(letGo: (seq: number) => Promise<void>) {
    this.#letGo = letGo
  }

  /** All up to this entry was let go. */
  get edge(): number {
    return this.#edge
  }

  /** From now on everything after this entry is kept for one more. */
  enter(after: number): Place {
    const place: Place = new Reader(after, {
      moved: () => this.#moved(place),
      left: () => {
        this.#places.delete(place)
        return this.#moved(place)
      },
      refuse: () => this.#refuse(),
    })
    this.#places.add(place)
    return place
  }

  /** The place is left when nobody holds its reader any more. */
  leaveWith(reader: object, place: Place): void {
    this.#held.register(reader, place)
  }

  async #moved(place: Place): Promise<void> {
    this.#furthest = Math.max(this.#furthest, place.after)
    // With nobody there, what nobody has come to is still unread.
    const edge = Math.min(this.#furthest, ...Array.from(this.#places, ({ after }) => after))
    if (edge <= this.#edge) return
    this.#edge = edge
    await this.#letGo(edge)
  }

  #refuse(): never {
    const message = 'this turn is over or was read before, and its session keeps only what is unread'
    throw new MainstemError('cursor_gone', message, { earliest: this.#edge + 1 })
  }
}

interface Listener {
  moved(): Promise<void>
  left(): Promise<void>
  refuse(): never
}

class Reader implements Place {
  after: number
  readonly #listener: Listener
  #state: 'new' | 'reading' | 'gone' = 'new'

  constructor(after: number, listener: Listener) {
    this.after = after
    this.#listener = listener
  }

  take(): void {
    if (this.#state !== 'new') this.#listener.refuse()
    this.#state = 'reading'
  }

  pass(seq: number): Promise<void> {
    this.after = seq
    return this.#listener.moved()
  }

  async leave(): Promise<void> {
    if (this.#state === 'gone') return
    this.#state = 'gone'
    await this.#listener.left()
  }

  async leaveUnread(): Promise<void> {
    if (this.#state === 'new') await this.leave()
  }
}
