import type { Timers } from '../../src/drivers/driver.ts'
import { systemTimers } from '../../src/drivers/timers.ts'

/**
 * Real time, except for the given durations: these last until a test lets them pass. Use it where a real program has
 * to react within a limit, which no real duration guarantees on a busy machine.
 */
export class HeldTimers implements Timers {
  readonly #held: ReadonlyMap<number, PromiseWithResolvers<void>>

  constructor(...durations: readonly number[]) {
    this.#held = new Map(durations.map((ms) => [ms, Promise.withResolvers<void>()]))
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    const held = this.#held.get(ms)
    if (!held || signal.aborted) return systemTimers.sleep(ms, signal)
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve())
      void held.promise.then(resolve)
    })
  }

  /** Ends every sleep of this duration, also those that begin later. */
  pass(ms: number): void {
    this.#held.get(ms)?.resolve()
  }
}
