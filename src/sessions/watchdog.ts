import type { StepReports } from '../agents/agent.ts'
import type { Cause, Event, Policy } from '../model/index.ts'
import { AGENT_LIMITS } from './deadlines.ts'
import type { SessionDeps } from './deps.ts'
import { TurnLimits } from './turn-limits.ts'

/** What a watchdog reports. */
export interface WatchdogOwner {
  /** The turn passed a limit and has to be stopped; `why` names the limit. Called at most once. */
  stop(cause: Cause, why?: string): void
  /** The agent wrote nothing for so long; called again after twice the time each. */
  silent(ms: number): void
}

/**
 * Watches one turn: its whole time, silence inside it, its model calls and its cost. Waiting for a person is not
 * silence.
 */
export class Watchdog {
  readonly #deps: Pick<SessionDeps, 'clock' | 'timers' | 'agentLimits'>
  readonly #owner: WatchdogOwner
  readonly #stop = new AbortController()
  readonly #limits: TurnLimits
  #heardAt: number
  #waitingForPerson = false

  constructor(
    policy: Policy,
    deps: Pick<SessionDeps, 'clock' | 'timers' | 'agentLimits'>,
    owner: WatchdogOwner,
    steps?: StepReports,
  ) {
    this.#deps = deps
    this.#owner = owner
    this.#limits = new TurnLimits(policy, steps)
    this.#heardAt = deps.clock.monotonic()
    if (policy.timeoutMs !== undefined) void this.#afterTurn(policy.timeoutMs)
    if (policy.idleTimeoutMs !== undefined) void this.#afterSilence(policy.idleTimeoutMs)
    void this.#reportSilence(deps.agentLimits?.silenceMs ?? AGENT_LIMITS.silenceMs)
  }

  see(event: Event): void {
    const cause = this.#limits.see(event)
    if (cause) this.#stopTurn(cause)
  }

  heard(): void {
    this.#heardAt = this.#deps.clock.monotonic()
  }

  waitForPerson(waiting: boolean): void {
    this.#waitingForPerson = waiting
    this.heard()
  }

  end(): void {
    this.#stop.abort()
  }

  #stopTurn(cause: Cause, why?: string): void {
    if (this.#stop.signal.aborted) return
    this.#stop.abort()
    this.#owner.stop(cause, why)
  }

  get #silentMs(): number {
    return this.#waitingForPerson ? 0 : this.#deps.clock.monotonic() - this.#heardAt
  }

  async #afterTurn(ms: number): Promise<void> {
    await this.#deps.timers.sleep(ms, this.#stop.signal)
    this.#stopTurn('timeout', `the turn took longer than ${ms / 1000} s (timeoutMs)`)
  }

  async #afterSilence(ms: number): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const silent = this.#silentMs
      if (silent >= ms) return this.#stopTurn('timeout', `no output for ${ms / 1000} s (idleTimeoutMs)`)
      await this.#deps.timers.sleep(ms - silent, this.#stop.signal)
    }
  }

  /** Looks at least once in `ms`, because output in between makes the next report due sooner. */
  async #reportSilence(ms: number): Promise<void> {
    let [due, heardAt] = [ms, this.#heardAt]
    while (!this.#stop.signal.aborted) {
      if (this.#heardAt !== heardAt) [due, heardAt] = [ms, this.#heardAt]
      const silent = this.#silentMs
      if (silent >= due) {
        this.#owner.silent(silent)
        due = 2 * silent
      }
      const wait = Math.min(due - silent, ms)
      const before = this.#deps.clock.monotonic()
      await this.#deps.timers.sleep(wait, this.#stop.signal)
      // Timers that outrun the clock, as in a fast demo, cannot measure silence and would spin here.
      if (this.#deps.clock.monotonic() - before < wait / 2) return
    }
  }
}
