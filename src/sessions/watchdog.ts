import type { StepReports } from '../agents/agent.ts'
import type { Timers } from '../drivers/driver.ts'
import type { Cause, Event, Policy } from '../model/index.ts'
import type { Clock } from './parts.ts'
import { TurnLimits } from './turn-limits.ts'

/**
 * Watches one turn: its whole time, silence inside it, its model calls and its cost. Waiting for a person is not
 * silence. `stop` is called at most once.
 */
export class Watchdog {
  readonly #clock: Clock
  readonly #stop = new AbortController()
  readonly #limits: TurnLimits
  readonly #stopTurn: (cause: Cause) => void
  #heardAt: number
  #waitingForPerson = false

  constructor(
    policy: Policy,
    clock: Clock,
    timers: Timers,
    stop: (cause: Cause) => void,
    steps?: StepReports,
  ) {
    this.#clock = clock
    this.#limits = new TurnLimits(policy, steps)
    this.#heardAt = clock.monotonic()
    this.#stopTurn = (cause) => {
      if (this.#stop.signal.aborted) return
      this.#stop.abort()
      stop(cause)
    }
    if (policy.timeoutMs !== undefined) void this.#afterTurn(policy.timeoutMs, timers)
    if (policy.idleTimeoutMs !== undefined) void this.#afterSilence(policy.idleTimeoutMs, timers)
  }

  see(event: Event): void {
    const cause = this.#limits.see(event)
    if (cause) this.#stopTurn(cause)
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

  async #afterTurn(ms: number, timers: Timers): Promise<void> {
    await timers.sleep(ms, this.#stop.signal)
    this.#stopTurn('timeout')
  }

  async #afterSilence(ms: number, timers: Timers): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const silent = this.#waitingForPerson ? 0 : this.#clock.monotonic() - this.#heardAt
      if (silent >= ms) return this.#stopTurn('timeout')
      await timers.sleep(ms - silent, this.#stop.signal)
    }
  }
}
