import type { Entry, Event } from '../model/index.ts'
import type { JournalFrame, Store } from '../stores/store.ts'

/** The entries of one session on their way into the store: the only place where `seq` is stamped. */
export class Log {
  readonly #session: string
  readonly #store: Store
  readonly #now: () => number
  #seq = 0
  #entries: Entry[] = []
  #journal: JournalFrame[] = []
  #writing: Promise<void> = Promise.resolve()

  constructor(session: string, store: Store, now: () => number) {
    this.#session = session
    this.#store = store
    this.#now = now
  }

  add(event: Event, turn: number | undefined, native: number | undefined): void {
    this.#entries.push(stamp(++this.#seq, this.#session, turn, this.#now(), event, native))
  }

  keepFrame(frame: number, stream: string, text: string): void {
    this.#journal.push({ frame, stream, text })
  }

  /** Settles when all that was added so far is committed. What gathers meanwhile goes in one later commit. */
  commit(): Promise<void> {
    this.#writing = this.#writing.then(() => {
      if (this.#entries.length === 0 && this.#journal.length === 0) return
      const entries = this.#entries
      const journal = this.#journal
      this.#entries = []
      this.#journal = []
      return this.#store.append(this.#session, entries, journal)
    })
    return this.#writing
  }
}

/** Literals of one piece: fields added afterwards would cost every entry an allocation of its own. */
export function stamp(
  seq: number,
  session: string,
  turn: number | undefined,
  at: number,
  event: Event,
  native: number | undefined,
): Entry {
  if (turn === undefined) {
    return native === undefined ? { seq, session, at, event } : { seq, session, at, event, native }
  }
  return native === undefined ? { seq, session, turn, at, event } : { seq, session, turn, at, event, native }
}
