import { type Entry, type ErrorInfo, MainstemError, type Outcome, type Usage } from '../model/index.ts'
import type { Session } from '../sessions/session.ts'
import type { Sessions } from '../sessions/sessions.ts'

/** How a turn ended. */
export interface TurnResult {
  outcome: Outcome
  /** The final answer; empty when there was none. */
  text: string
  error?: ErrorInfo
  usage?: Usage
  structured?: unknown
  durationMs: number
}

interface Begun {
  turn: number
  /** The last entry before this turn. */
  after: number
}

/** One prompt on its way to its outcome: iterate it for its entries, ask it for its result, or both. */
export class Turn implements AsyncIterable<Entry> {
  readonly #sessions: Sessions
  readonly #session: Session
  readonly #begun: Promise<Begun>

  constructor(sessions: Sessions, session: Session, prompt: string, signal: AbortSignal | undefined) {
    this.#sessions = sessions
    this.#session = session
    this.#begun = this.#begin(prompt, signal)
    // Whoever iterates or asks for the result is told; nobody else needs to handle it.
    this.#begun.catch(() => undefined)
  }

  /** Every entry of the turn, once and in order, from its start to its one terminal event. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void> {
    const { turn, after } = await this.#begun
    const leave = new AbortController()
    try {
      for await (const batch of this.#sessions.follow(this.#session.id, after, leave.signal)) {
        for (const entry of batch) {
          if (entry.turn !== turn) continue
          yield entry
          if (entry.event.type === 'turn.completed') return
        }
      }
    } finally {
      leave.abort()
    }
  }

  async result(): Promise<TurnResult> {
    const { turn } = await this.#begun
    const completed = await this.#session.settled(turn)
    const { outcome, error, usage, structured, durationMs } = completed
    return {
      outcome,
      text: completed.result ?? (await this.#lastText()),
      ...(error && { error }),
      ...(usage && { usage }),
      ...(structured !== undefined && { structured }),
      durationMs,
    }
  }

  async #begin(prompt: string, signal: AbortSignal | undefined): Promise<Begun> {
    if (signal?.aborted) throw new MainstemError('conflict', 'the signal had fired before the turn began')
    const after = await this.#sessions.head(this.#session.id)
    const turn = await this.#session.prompt(prompt)
    if (signal) this.#interruptOn(signal, turn)
    return { turn, after }
  }

  #interruptOn(signal: AbortSignal, turn: number): void {
    const interrupt = () => void this.#session.interrupt().catch(() => undefined)
    signal.addEventListener('abort', interrupt, { once: true })
    const settled = this.#session.settled(turn)
    settled.catch(() => undefined).finally(() => signal.removeEventListener('abort', interrupt))
  }

  /** Agents that do not repeat their answer at the end have said it last. */
  async #lastText(): Promise<string> {
    let text = ''
    for await (const { event } of this) {
      if (event.type === 'text.completed' && event.parent === undefined) text = event.text
    }
    return text
  }
}
