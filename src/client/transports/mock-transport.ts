import type { RequestAnswer } from '../../model/index.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { systemTimers, type Timers } from '../timers.ts'
import type { Cursor, Delivery, SessionState, SessionSummary, Transport } from './transport.ts'

/** Options of a `MockTransport`. */
export interface MockOptions {
  /** Milliseconds between two messages; 0 by default. */
  delayMs?: number
  /** Breaks connections after these numbers of messages, one number per connection. Later connections do not break. */
  breaks?: readonly number[]
  /** The state of the session after its last message; `done` by default. */
  ends?: SessionState
  /** Replaces the timers in tests. */
  timers?: Timers
}

const SESSION = '00000000-0000-4000-8000-00000000aaaa'

/** A server for tests: it sends the given messages for every session. */
export class MockTransport implements Transport {
  /** The messages that it sends. */
  readonly events: readonly string[]
  /** The sessions that were requested. */
  readonly requests: unknown[] = []
  /** The answers that it received, by request id. */
  readonly answers = new Map<string, RequestAnswer>()
  readonly #delayMs: number
  readonly #breaks: number[]
  readonly #timers: Timers
  readonly #ends: SessionState
  #state: SessionState = 'running'

  constructor(
    events: readonly string[],
    { delayMs = 0, breaks = [], ends = 'done', timers = systemTimers }: MockOptions = {},
  ) {
    this.events = events
    this.#delayMs = delayMs
    this.#breaks = [...breaks]
    this.#ends = ends
    this.#timers = timers
  }

  async create(request: unknown): Promise<SessionSummary> {
    this.requests.push(request)
    return { id: SESSION, state: this.#state }
  }

  async list(): Promise<readonly SessionSummary[]> {
    return this.requests.length === 0 ? [] : [{ id: SESSION, state: this.#state }]
  }

  async state(): Promise<SessionState> {
    return this.#state
  }

  async cancel(): Promise<void> {
    if (this.#state === 'running') this.#state = 'cancelled'
  }

  async answer(_session: string, requestId: string, answer: RequestAnswer): Promise<void> {
    this.answers.set(requestId, answer)
  }

  async count(): Promise<number> {
    return this.#state === 'cancelled' ? 0 : this.events.length
  }

  async *connect(_session: string, from: Cursor, signal: AbortSignal): AsyncGenerator<readonly Delivery[]> {
    let left = this.#breaks.shift() ?? Number.POSITIVE_INFINITY
    for (const [index, text] of this.events.entries()) {
      if (index < from.count) continue
      if (left-- <= 0)
        throw new MainstemError('connection_failed', 'the mock connection broke, as configured by `breaks`')
      if (this.#delayMs > 0) await this.#timers.sleep(this.#delayMs, signal)
      signal.throwIfAborted()
      if (this.#state === 'cancelled') return
      yield [{ text, cursor: { count: index + 1 } }]
    }
    if (this.#state === 'running') this.#state = this.#ends
  }
}
