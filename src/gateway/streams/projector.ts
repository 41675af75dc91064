import type { Dialect, DialectOptions } from '../../dialects/dialect.ts'
import { mainstem } from '../../dialects/mainstem.ts'
import type { Entry, EventType } from '../../model/index.ts'
import { type Cursor, isAfter, messageId } from './cursor.ts'
import type { Shown } from './format.ts'

/** Raw frames by their numbers. */
export type RawFrames = ReadonlyMap<number, string>

/** What a reader wants to see. */
export interface View {
  dialect: Dialect
  options: DialectOptions
  after: Cursor
  /** Only what comes from these events. */
  types?: ReadonlySet<EventType> | undefined
  /** Leaves out the messages of an entry. */
  omits?: ((entry: Entry) => boolean) | undefined
}

/**
 * One reader's projection. What a dialect says may depend on what it has said, so it sees every entry; messages up
 * to the cursor, and of other types, are left out.
 */
export class Projector {
  readonly #view: View
  /** What it knows by now. */
  readonly state: unknown

  constructor(view: View, state = view.dialect.initial(view.options)) {
    this.#view = view
    this.state = state
  }

  /** What it shows are the entries themselves, all of them. */
  get isVerbatim(): boolean {
    const { dialect, options, types } = this.#view
    return dialect === mainstem && !types && options.raw === undefined
  }

  get finished(): boolean {
    return this.#view.dialect.finished(this.state)
  }

  *project(entries: readonly Entry[], raw?: RawFrames): Generator<Shown> {
    const { dialect, after, types, omits } = this.#view
    for (const entry of entries) {
      const frame = entry.native === undefined ? undefined : raw?.get(entry.native)
      const messages = dialect.project(this.state, entry, frame)
      if ((types && !types.has(entry.event.type)) || omits?.(entry)) continue
      // Counted by hand: this is passed for every event and every reader.
      let part = 0
      for (const message of messages) {
        if (isAfter(after, entry.seq, ++part))
          yield { id: messageId(entry.seq, part, messages.length), message }
      }
    }
  }
}
