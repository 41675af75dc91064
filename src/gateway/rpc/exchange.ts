import { continueExchange, daemon, endsExchange } from '../../dialects/daemon.ts'
import type { Dialect, DialectOptions } from '../../dialects/dialect.ts'
import type { Entry } from '../../model/index.ts'
import { messageId } from '../streams/cursor.ts'
import type { StreamMessage } from '../streams/format.ts'

export interface ExchangeScope {
  turn: number
  /** The last entry before the exchange. */
  after: number
  dialect: Dialect
  options: DialectOptions
  /** The cached state of this API's dialect, if the earlier entries need not be projected again. */
  known?: unknown
}

/** The projection of one entry. */
export interface EntryProjection {
  messages: readonly StreamMessage[]
  /** Whether this entry ends the exchange. */
  ends: boolean
  /** The messages without the one that ends the exchange, for a question that was answered before it was shown. */
  withoutEnd: readonly StreamMessage[]
}

const NOTHING: EntryProjection = { messages: [], ends: false, withoutEnd: [] }

/**
 * One prompt or answer with the agent's response, selected from the log of its session. Other prompts in the meantime
 * are excluded. The dialect of this API determines the end of the exchange, whichever dialect is sent.
 */
export class Exchange {
  readonly #scope: ExchangeScope
  /** The current state of this API's dialect. */
  readonly own: unknown
  readonly #other: unknown

  constructor(scope: ExchangeScope) {
    this.#scope = scope
    this.own = scope.known ?? daemon.initial(scope.options)
    this.#other = scope.dialect === daemon ? undefined : scope.dialect.initial(scope.options)
  }

  /** Projects an entry. Call it for the whole log, from the first entry or from the cached state on. */
  project(entry: Entry, raw?: string): EntryProjection {
    const { turn, after, dialect } = this.#scope
    const own = daemon.project(this.own, entry, raw)
    const projected = dialect === daemon ? own : dialect.project(this.#other, entry, raw)
    if (entry.seq <= after || (entry.turn !== undefined && entry.turn !== turn)) return NOTHING
    const messages = projected.map((message, index) => ({
      id: messageId(entry.seq, index + 1, projected.length),
      message,
    }))
    const ends = own.some(endsExchange)
    const withoutEnd =
      ends && projected === own ? messages.filter(({ message }) => !endsExchange(message)) : messages
    return { messages, ends, withoutEnd }
  }

  /** Continues the exchange: the last entry does not end it. */
  continueExchange(): void {
    continueExchange(this.own)
  }
}
