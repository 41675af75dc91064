import { type HttpOptions, Rest } from '../rest.ts'
import { systemTimers, type Timers } from '../timers.ts'
import type { Cursor, Delivery } from './transport.ts'

/** Options of an `HttpTransport`. */
export interface PollingOptions extends HttpOptions {
  /** Milliseconds between two polls; 500 by default. */
  intervalMs?: number
  /** Replaces the timers in tests. */
  timers?: Timers
}

/** Polls the server for new messages. Works wherever plain HTTP requests do. */
export class HttpTransport extends Rest {
  readonly #intervalMs: number
  readonly #timers: Timers

  constructor({ intervalMs = 500, timers = systemTimers, ...options }: PollingOptions = {}) {
    super(options)
    this.#intervalMs = intervalMs
    this.#timers = timers
  }

  override async *connect(
    session: string,
    from: Cursor,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Delivery[]> {
    let { count } = from
    while (!signal.aborted) {
      // Read before the messages: if the session has ended, the list is then complete.
      const state = await this.state(session, signal)
      for (;;) {
        const { events } = await this.page(session, count, signal)
        if (events.length === 0) break
        yield events.map((event) => ({ text: JSON.stringify(event), cursor: { count: ++count } }))
      }
      if (state !== 'running') return
      await this.#timers.sleep(this.#intervalMs, signal)
    }
  }
}
