import { type HttpOptions, Rest } from './rest.ts'
import { systemTimers, type Timers } from './timers.ts'
import type { Cursor, Delivery } from './transport.ts'

export interface PollingOptions extends HttpOptions {
  /** Between two looks at a session that has nothing new; half a second unless it is said. */
  intervalMs?: number
  timers?: Timers
}

/** Fetches what is new again and again: works wherever a plain request does. */
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
      // Asked first: what was said before the session ended is then in the list for certain.
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
