import type { Entry, Event } from '../model/index.ts'
import type { JournalFrame, Receipt, SessionState, Store } from '../stores/store.ts'
import { recordEvent } from './record.ts'

/** The entries of one session on their way into the store: the only place where `seq` is stamped. */
export class Log {
  readonly #store: Store
  readonly #now: () => number
  readonly #committed: ((state: SessionState, entries: readonly Entry[]) => void) | undefined
  /** What the session is with everything that was added; the store gets copies. */
  readonly #state: SessionState
  #changed = true
  #seq: number
  #entries: Entry[] = []
  #journal: JournalFrame[] = []
  #writing: Promise<void> = Promise.resolve()

  /** `head` is the last entry that is in the store already. */
  constructor(
    state: SessionState,
    head: number,
    store: Store,
    now: () => number,
    committed?: (state: SessionState, entries: readonly Entry[]) => void,
  ) {
    this.#committed = committed
    this.#state = state
    this.#seq = head
    this.#store = store
    this.#now = now
  }

  add(event: Event, turn: number | undefined, native: number | undefined): void {
    this.#entries.push(stamp(++this.#seq, this.#state.id, turn, this.#now(), event, native))
    if (recordEvent(this.#state, event)) this.#changed = true
  }

  /** Another native process is about to run, marked by this number. */
  launched(epoch: number): void {
    this.#state.epoch = epoch
    this.#changed = true
  }

  /** The agent's own session can be resumed by this id from now on. */
  resumable(nativeSessionId: string | undefined): void {
    if (nativeSessionId === this.#state.nativeSessionId) return
    if (nativeSessionId === undefined) delete this.#state.nativeSessionId
    else this.#state.nativeSessionId = nativeSessionId
    this.#changed = true
  }

  keepFrame(frame: number, stream: string, text: string): void {
    this.#journal.push({ frame, stream, text })
    this.#state.frames = frame
    this.#changed = true
  }

  /** The first commit, which takes an idempotency key along. Nothing is written where somebody else holds the key. */
  begin(receipt?: Receipt): Promise<Receipt | undefined> {
    const batch = this.#take()
    const created = this.#store.create(this.#state.id, batch, receipt).then((held) => {
      if (held?.session === receipt?.session) this.#committed?.(this.#state, batch.entries)
      return held
    })
    // What comes next must wait for it, and must fail if it failed.
    this.#writing = created.then(() => undefined)
    // Whoever began it is told by the answer itself.
    this.#writing.catch(() => undefined)
    return created
  }

  /** Settles when all that was added so far is committed. What gathers meanwhile goes in one later commit. */
  commit(): Promise<void> {
    this.#writing = this.#writing.then(() => {
      if (this.#entries.length === 0 && this.#journal.length === 0) return
      const batch = this.#take()
      const appended = this.#store.append(this.#state.id, batch)
      const committed = this.#committed
      return committed ? appended.then(() => committed(this.#state, batch.entries)) : appended
    })
    return this.#writing
  }

  #take() {
    const batch = {
      entries: this.#entries,
      journal: this.#journal,
      ...(this.#changed && { record: { ...this.#state } }),
    }
    this.#entries = []
    this.#journal = []
    this.#changed = false
    return batch
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
