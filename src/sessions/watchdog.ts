import type { Timers } from '../drivers/driver.ts'
import type { Policy } from '../model/index.ts'
import type { Clock } from './parts.ts'

/**
 * Watches one turn: its whole time, and silence inside it. Waiting for a person is not silence.
 * `expire` is called at most once.
 */
export class Watchdog {
  readonly #clock: Clock
  readonly #stop = new AbortController()
  #heardAt: number
  #waitingForPerson = false

  constructor(policy: Policy, clock: Clock, timers: Timers, expire: () => void) {
    this.#clock = clock
    this.#heardAt = clock.monotonic()
    const once = () => {
      if (this.#stop.signal.aborted) return
      this.#stop.abort()
      expire()
    }
    if (policy.timeoutMs !== undefined) void this.#afterTurn(policy.timeoutMs, timers, once)
    if (policy.idleTimeoutMs !== undefined) void this.#afterSilence(policy.idleTimeoutMs, timers, once)
  }

  heard(): void {
    this.#heardAt = this.#clock.monotonic()
  }

  waitForPerson(waiting: boolean): void {
    this.#waitingForPerson = waiting
    this.heard()
  }

  end(): void {
    this.#stop.abort()
  }

  async #afterTurn(ms: number, timers: Timers, expire: () => void): Promise<void> {
    await timers.sleep(ms, this.#stop.signal)
    expire()
  }

  async #afterSilence(ms: number, timers: Timers, expire: () => void): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const silent = this.#waitingForPerson ? 0 : this.#clock.monotonic() - this.#heardAt
      if (silent >= ms) return expire()
      await timers.sleep(ms - silent, this.#stop.signal)
    }
  }
}
