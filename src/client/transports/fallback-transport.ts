import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import type { Cursor, Delivery, Transport } from './transport.ts'

/** Several transports to one server: if one cannot connect, the next continues at the same cursor. */
export class FallbackTransport implements Transport {
  readonly #transports: readonly [Transport, ...Transport[]]
  #current = 0

  constructor(...transports: [Transport, ...Transport[]]) {
    this.#transports = transports
  }

  /** The transport in use. */
  get current(): Transport {
    return this.#transports[this.#current] ?? this.#transports[0]
  }

  readonly create: Transport['create'] = (...args) => this.current.create(...args)
  readonly list: Transport['list'] = (...args) => this.current.list(...args)
  readonly state: Transport['state'] = (...args) => this.current.state(...args)
  readonly cancel: Transport['cancel'] = (...args) => this.current.cancel(...args)
  readonly answer: Transport['answer'] = (...args) => this.current.answer(...args)
  readonly count: Transport['count'] = (...args) => this.current.count(...args)

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
        // A transport that has worked is retried; one that never connected is skipped.
        if (delivered || signal.aborted) throw error
        thrown = error
      }
    }
    // No transport works, so the server is down. Start again with the first.
    this.#current = 0
    throw thrown
  }
}
