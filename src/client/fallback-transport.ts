import { MainstemError } from '../model/mainstem-error.ts'
import type {
  CreateOptions,
  Cursor,
  Delivery,
  RequestAnswer,
  SessionState,
  SessionSummary,
  Transport,
} from './transport.ts'

/** Several ways to the same server: where one cannot be opened, the next takes over at the same place. */
export class FallbackTransport implements Transport {
  readonly #transports: readonly [Transport, ...Transport[]]
  #current = 0

  constructor(...transports: [Transport, ...Transport[]]) {
    this.#transports = transports
  }

  /** The one that is in use. */
  get current(): Transport {
    return this.#transports[this.#current] ?? this.#transports[0]
  }

  create(request: unknown, options?: CreateOptions): Promise<SessionSummary> {
    return this.current.create(request, options)
  }

  list(signal?: AbortSignal): Promise<readonly SessionSummary[]> {
    return this.current.list(signal)
  }

  state(session: string, signal?: AbortSignal): Promise<SessionState> {
    return this.current.state(session, signal)
  }

  cancel(session: string, signal?: AbortSignal): Promise<void> {
    return this.current.cancel(session, signal)
  }

  answer(session: string, requestId: string, answer: RequestAnswer, signal?: AbortSignal): Promise<void> {
    return this.current.answer(session, requestId, answer, signal)
  }

  count(session: string, least: number, signal?: AbortSignal): Promise<number> {
    return this.current.count(session, least, signal)
  }

  async *connect(session: string, from: Cursor, signal: AbortSignal): AsyncGenerator<readonly Delivery[]> {
    let thrown: unknown = new MainstemError('connection_failed', 'no transport is left')
    const first = this.#current
    for (let tried = first; tried < this.#transports.length; tried++) {
      this.#current = tried
      let delivered = false
      try {
        for await (const batch of this.current.connect(session, from, signal)) {
          delivered = true
          yield batch
        }
        return
      } catch (error) {
        // One that worked is tried again; one that never did is not.
        if (delivered || signal.aborted) throw error
        thrown = error
      }
    }
    // None of them works now, so that the server is to blame and not the way to it.
    this.#current = 0
    throw thrown
  }
}
