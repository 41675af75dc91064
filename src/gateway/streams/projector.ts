import type { Dialect, DialectOptions } from '../../dialects/dialect.ts'
import { mainstem } from '../../dialects/mainstem.ts'
import type { Entry, EventType } from '../../model/index.ts'
import { isAfter, type MessageCursor, messageId } from './cursor.ts'
import type { StreamMessage } from './format.ts'

/** Raw frames by number. */
export type RawFrames = ReadonlyMap<number, string>

/** A subscriber's view of a log. */
export interface StreamView {
  dialect: Dialect
  options: DialectOptions
  after: MessageCursor
  /** Selects messages of these event types only. */
  types?: ReadonlySet<EventType> | undefined
  /** Omits the messages of an entry. */
  omits?: ((entry: Entry) => boolean) | undefined
}

/**
 * The projection of one subscriber. A dialect's output may depend on earlier entries, so it sees every entry; messages
 * up to the cursor and of other types are dropped.
 */
export class Projector {
  readonly #view: StreamView
  /** The current projection state. */
  readonly state: unknown

  constructor(view: StreamView, state = view.dialect.initial(view.options)) {
    this.#view = view
    this.state = state
  }

  /** Whether the output is the unmodified entries. */
  get isVerbatim(): boolean {
    const { dialect, options, types } = this.#view
    return dialect === mainstem && !types && options.raw === undefined
  }

  /** The types of entries that are needed; undefined if all are, because a dialect may depend on any entry. */
  get types(): StreamView['types'] {
    const { dialect, types } = this.#view
    return dialect === mainstem ? types : undefined
  }

  get finished(): boolean {
    return this.#view.dialect.finished(this.state)
  }

  *project(entries: readonly Entry[], raw?: RawFrames): Generator<StreamMessage> {
    const { dialect, after, types, omits } = this.#view
    for (const entry of entries) {
      const frame = entry.native === undefined ? undefined : raw?.get(entry.native)
      const messages = dialect.project(this.state, entry, frame)
      if ((types && !types.has(entry.event.type)) || omits?.(entry)) continue
      // Counted manually, because this runs for every event and every subscriber.
      let part = 0
      for (const message of messages) {
        if (isAfter(after, entry.seq, ++part))
          yield { id: messageId(entry.seq, part, messages.length), message }
      }
    }
  }
}
