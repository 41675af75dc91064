import type { LeftRun } from '../../drivers/driver.ts'
import type { SessionParts } from '../session-parts.ts'
import { AGENT_LIMITS, LONGEST_EXIT, type Stage } from './agent-limits.ts'
import { READ_UP_MS } from './watchdog.ts'

/** Limits the stages of a process that only the process itself can end. */
export class StageLimit {
  readonly #parts: SessionParts
  /** The stage that is limited now, and when the agent last wrote a frame of its protocol. */
  #limited: Stage = 'working'
  #heardAt = 0
  /** When the process was started, until it has answered. */
  #startedAt: number | undefined

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** Call when a process was started, or when one was found that an earlier owner left. */
  begin(stage: Stage, left?: LeftRun): void {
    this.update(stage, true, left)
    this.#startedAt = left ? undefined : this.#parts.deps.clock.monotonic()
  }

  /**
   * Call after all output: output of the protocol extends the wait for the exit after a result, and no other. `left` is
   * set for a process that an earlier owner left: what has passed counts.
   */
  update(stage: Stage, isProtocol: boolean, left?: LeftRun): void {
    const { deps } = this.#parts
    const since = stage === 'starting' ? left?.startedAt : left?.outputAt
    const passedMs = since === undefined ? 0 : Math.max(0, deps.clock.now() - since)
    if (isProtocol) this.#heardAt = deps.clock.monotonic() - passedMs
    if (isProtocol && stage !== 'starting' && this.#startedAt !== undefined) {
      deps.agentStarted?.(deps.clock.monotonic() - this.#startedAt)
      this.#startedAt = undefined
    }
    if (stage === this.#limited) return
    this.#enter(stage)
    if (stage === 'working') return
    const { startMs, exitMs } = { ...AGENT_LIMITS, ...deps.agentLimits }
    const ms = stage === 'starting' ? startMs : exitMs
    const most = stage === 'finished' ? LONGEST_EXIT * ms : ms
    const leftMs = Math.max(left ? READ_UP_MS : 0, ms - passedMs)
    this.#await(stage, ms, leftMs, deps.clock.monotonic() + most - passedMs)
  }

  /** Call when the process has exited. */
  end(): void {
    this.#startedAt = undefined
    this.#enter('working')
  }

  #enter(stage: Stage): void {
    this.#parts.alarms.disarm('stage')
    this.#limited = stage
  }

  #await(stage: Stage, ms: number, left: number, last: number): void {
    const { alarms, deps, agent } = this.#parts
    const heardAt = this.#heardAt
    alarms.arm('stage', left, ({ wasSuspended }) => {
      const extended = Math.min(this.#heardAt + ms, last) - deps.clock.monotonic()
      const more = wasSuspended ? ms : this.#heardAt === heardAt ? 0 : extended
      if (more > 0) this.#await(stage, ms, more, last)
      else this.#parts.run(agent.endOverdue(stage, ms))
    })
  }
}
