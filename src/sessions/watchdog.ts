import type { StepReports } from '../agents/agent.ts'
import type { Cause, Event, Policy } from '../model/index.ts'
import { AGENT_LIMITS } from './deadlines.ts'
import type { SessionDeps } from './deps.ts'
import { TurnLimits } from './turn-limits.ts'

/** Receives the reports of a watchdog. */
export interface WatchdogOwner {
  /** The turn passed a limit and has to be stopped; `why` names the limit. Called at most once. */
  stop(cause: Cause, why?: string): void
  /** The agent wrote nothing for `ms`. Called again each time the silence has doubled. */
  silent(ms: number): void
}

/**
 * Enforces the limits of one turn: duration, silence, model calls and cost. Waiting for a person does not count as
 * silence.
 */
export class Watchdog {
  readonly #deps: Pick<SessionDeps, 'clock' | 'timers' | 'agentLimits'>
  readonly #owner: WatchdogOwner
  readonly #stop = new AbortController()
  readonly #limits: TurnLimits
  #activeAt: number
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
    this.#activeAt = deps.clock.monotonic()
    if (policy.timeoutMs !== undefined) void this.#afterTurn(policy.timeoutMs)
    if (policy.idleTimeoutMs !== undefined) void this.#afterSilence(policy.idleTimeoutMs)
    void this.#reportSilence(deps.agentLimits?.silenceMs ?? AGENT_LIMITS.silenceMs)
  }

  observe(event: Event): void {
    const cause = this.#limits.observe(event)
    if (cause) this.#stopTurn(cause)
  }

  noteActivity(): void {
    this.#activeAt = this.#deps.clock.monotonic()
  }

  waitForPerson(waiting: boolean): void {
    this.#waitingForPerson = waiting
    this.noteActivity()
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
    return this.#waitingForPerson ? 0 : this.#deps.clock.monotonic() - this.#activeAt
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

  /** Checks at least every `ms`, because output makes the next report due sooner. */
  async #reportSilence(ms: number): Promise<void> {
    let [due, activeAt] = [ms, this.#activeAt]
    while (!this.#stop.signal.aborted) {
      if (this.#activeAt !== activeAt) [due, activeAt] = [ms, this.#activeAt]
      const silent = this.#silentMs
      if (silent >= due) {
        this.#owner.silent(silent)
        due = 2 * silent
      }
      const wait = Math.min(due - silent, ms)
      const before = this.#deps.clock.monotonic()
      await this.#deps.timers.sleep(wait, this.#stop.signal)
      // Timers that run faster than the clock, as in a fast demo, cannot measure silence and would spin here.
      if (this.#deps.clock.monotonic() - before < wait / 2) return
    }
  }
}
