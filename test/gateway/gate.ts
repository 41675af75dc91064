import type { Timers } from '../../src/drivers/driver.ts'

/** Limits on silent agents sleep for this long or longer, from the start of each process. */
const LIMIT_MS = 30_000

/** Time that stands still until it is told to go on. */
export class Gate implements Timers {
  readonly #sleepers = new Set<() => void>()
  readonly #limits = new Set<() => void>()
  #arrived = Promise.withResolvers<void>()

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    const sleepers = ms < LIMIT_MS ? this.#sleepers : this.#limits
    return new Promise((resolve) => {
      const wake = () => {
        sleepers.delete(wake)
        resolve()
      }
      sleepers.add(wake)
      signal.addEventListener('abort', wake)
      this.#arrived.resolve()
    })
  }

  /** Settles when an agent waits; a limit that runs in the background does not count. */
  async reached(): Promise<void> {
    while (this.#sleepers.size === 0) {
      this.#arrived = Promise.withResolvers()
      await this.#arrived.promise
    }
  }

  /** Lets everybody through who waits now. */
  async open(): Promise<void> {
    await this.reached()
    for (const wake of [...this.#sleepers, ...this.#limits]) wake()
  }
}
