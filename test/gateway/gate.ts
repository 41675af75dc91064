import type { Timers } from '../../src/drivers/driver.ts'

/** Time that stands still until it is told to go on. */
export class Gate implements Timers {
  readonly #sleepers = new Set<() => void>()
  #arrived = Promise.withResolvers<void>()

  sleep(_ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(wake)
        resolve()
      }
      this.#sleepers.add(wake)
      signal.addEventListener('abort', wake)
      this.#arrived.resolve()
    })
  }

  /** Settles when somebody is waiting. */
  async reached(): Promise<void> {
    while (this.#sleepers.size === 0) {
      this.#arrived = Promise.withResolvers()
      await this.#arrived.promise
    }
  }

  /** Lets everybody through who waits now. */
  async open(): Promise<void> {
    await this.reached()
    for (const wake of this.#sleepers) wake()
  }
}
