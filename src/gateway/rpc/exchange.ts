import { daemon, endsExchange, goOn } from '../../dialects/daemon.ts'
import type { Dialect, DialectOptions } from '../../dialects/dialect.ts'
import type { Entry } from '../../model/index.ts'
import { messageId } from '../streams/cursor.ts'
import type { Shown } from '../streams/format.ts'

export interface Scope {
  turn: number
  /** The last entry before it. */
  after: number
  dialect: Dialect
  options: DialectOptions
  /** What this face's dialect knows of what came before, where that need not be heard again. */
  known?: unknown
}

/** What a client hears of one entry. */
export interface Heard {
  messages: readonly Shown[]
  /** Is the exchange over with it? */
  ends: boolean
  /** The messages without the one that says so, for a question that was answered before it could be shown. */
  goingOn: readonly Shown[]
}

const NOTHING: Heard = { messages: [], ends: false, goingOn: [] }

/**
 * One message or answer and what the agent says to it, cut out of the log of its session. Other prompts may come
 * and go meanwhile; they are no part of it. The face's own dialect tells where it ends, whatever dialect is shown.
 */
export class Exchange {
  readonly #scope: Scope
  /** What this face's dialect knows by now. */
  readonly own: unknown
  readonly #other: unknown

  constructor(scope: Scope) {
    this.#scope = scope
    this.own = scope.known ?? daemon.initial(scope.options)
    this.#other = scope.dialect === daemon ? undefined : scope.dialect.initial(scope.options)
  }

  /** It has to hear the whole log, from the first entry on or from where its dialect knows it. */
  hear(entry: Entry, raw?: string): Heard {
    const { turn, after, dialect } = this.#scope
    const own = daemon.project(this.own, entry, raw)
    const said = dialect === daemon ? own : dialect.project(this.#other, entry, raw)
    if (entry.seq <= after || (entry.turn !== undefined && entry.turn !== turn)) return NOTHING
    const messages = said.map((message, index) => ({
      id: messageId(entry.seq, index + 1, said.length),
      message,
    }))
    const ends = own.some(endsExchange)
    const goingOn = ends && said === own ? messages.filter(({ message }) => !endsExchange(message)) : messages
    return { messages, ends, goingOn }
  }

  /** What was heard last does not end it. */
  goOn(): void {
    goOn(this.own)
  }
}
