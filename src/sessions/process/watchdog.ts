import type { Cause, Event } from '../../model/index.ts'
import type { SessionParts } from '../session-parts.ts'
import { TurnLimits } from '../turns/turn-limits.ts'
import { AGENT_LIMITS } from './agent-limits.ts'

/** What has passed of the limits of a turn under an earlier owner. */
export interface Passed {
  turnMs: number
  silentMs: number
}

/** After a re-attachment, a limit ends nothing before what the agent wrote meanwhile was read. */
export const READ_UP_MS = 5_000

/**
 * Enforces the limits of one turn: duration, silence, model calls and cost. Waiting for a person does not count as
 * silence.
 */
export class Watchdog {
  readonly #parts: SessionParts
  readonly #limits: TurnLimits
  #activeAt: number
  #isOver = false

  /** `passed` is how long the turn has run, and how long its agent was silent, under an earlier owner. */
  constructor(parts: SessionParts, passed?: Passed) {
    const { turnMs = 0, silentMs = 0 } = passed ?? {}
    // What the agent wrote without an owner is read first.
    const leastMs = passed ? READ_UP_MS : 0
    const { setup, deps, alarms } = parts
    const { timeoutMs, idleTimeoutMs } = setup.policy
    this.#parts = parts
    this.#limits = new TurnLimits(setup.policy, setup.recipe.steps)
    this.#activeAt = deps.clock.monotonic() - silentMs
    if (timeoutMs !== undefined) {
      const why = `the turn took longer than ${timeoutMs / 1000} s (timeoutMs)`
      alarms.arm('turn', Math.max(leastMs, timeoutMs - turnMs), () => this.#stop('timeout', why))
    }
    if (idleTimeoutMs !== undefined)
      this.#awaitSilence(idleTimeoutMs, Math.max(leastMs, idleTimeoutMs - silentMs))
    const { silenceMs = AGENT_LIMITS.silenceMs } = deps.agentLimits ?? {}
    const reported = parts.state.silentSince === undefined ? silenceMs : nextReport(silenceMs, silentMs)
    this.#awaitReport(silenceMs, reported, silentMs, leastMs)
  }

  observe(event: Event): void {
    const cause = this.#limits.observe(event)
    if (cause) this.#stop(cause)
  }

  noteActivity(): void {
    this.#activeAt = this.#parts.deps.clock.monotonic()
  }

  end(): void {
    this.#isOver = true
    this.#parts.alarms.disarm('turn', 'silence', 'report')
  }

  #stop(cause: Cause, why?: string): void {
    if (this.#isOver) return
    this.end()
    this.#parts.run(this.#parts.interrupts.interrupt(cause, {}, why))
  }

  get #silentMs(): number {
    const { log, deps } = this.#parts
    return log.requests.length > 0 ? 0 : deps.clock.monotonic() - this.#activeAt
  }

  /** Silence counts again after a suspension, because output could not be read. */
  #awaitSilence(limit: number, left: number): void {
    this.#parts.alarms.arm('silence', left, ({ wasSuspended }) => {
      if (wasSuspended) this.noteActivity()
      const silent = this.#silentMs
      if (silent >= limit) this.#stop('timeout', `no output for ${limit / 1000} s (idleTimeoutMs)`)
      else this.#awaitSilence(limit, limit - silent)
    })
  }

  /** Reports silence, and again each time it has doubled. Checks every `ms`: output makes the next report due sooner. */
  #awaitReport(ms: number, due: number, silentMs: number, leastMs = 0): void {
    const wait = Math.max(leastMs, Math.min(due - silentMs, ms))
    const activeAt = this.#activeAt
    this.#parts.alarms.arm('report', wait, (slept) => {
      if (slept.wasSuspended) this.noteActivity()
      // Timers that run faster than the clock, as in a fast demo, cannot measure silence and would spin here.
      if (slept.ms < wait / 2) return
      const silent = this.#silentMs
      const next = this.#activeAt === activeAt ? due : ms
      if (silent >= next) this.#parts.turns.reportSilence(silent)
      this.#awaitReport(ms, silent >= next ? 2 * silent : next, silent)
    })
  }
}

/** When silence is reported next, which is reported after `ms` and each time it has doubled. */
function nextReport(ms: number, silentMs: number): number {
  let due = ms
  while (due <= silentMs) due *= 2
  return due
}
