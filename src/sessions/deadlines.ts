import type { Timers } from '../drivers/driver.ts'

/** Time limits for an agent, where its policy sets none. */
export interface AgentLimits {
  /** From the start of a process until it has answered its handshake, or loaded the conversation it resumes. */
  startMs: number
  /** Without output, from the result of a one-shot process until its exit. */
  exitMs: number
  /** Without output in a turn, until a notice is raised. */
  silenceMs: number
}

export const AGENT_LIMITS: AgentLimits = { startMs: 120_000, exitMs: 30_000, silenceMs: 60_000 }

/** The stage of a process: before its handshake, at work, or after its result and before its exit. */
export type Stage = 'starting' | 'working' | 'finished'

/** Limits the stages of a process that only the process itself can end. */
export class Deadlines {
  readonly #timers: Timers
  readonly #limits: AgentLimits
  readonly #overdue: (stage: Stage, ms: number) => void
  #stage: Stage = 'working'
  #wait = new AbortController()

  constructor(timers: Timers, limits: AgentLimits, overdue: (stage: Stage, ms: number) => void) {
    this.#timers = timers
    this.#limits = limits
    this.#overdue = overdue
  }

  /** Call at the start and after all output. Output extends the wait for the exit, but not for the handshake. */
  enter(stage: Stage): void {
    if (stage === this.#stage && stage !== 'finished') return
    this.end()
    this.#stage = stage
    if (stage === 'working') return
    this.#wait = new AbortController()
    void this.#expire(stage, stage === 'starting' ? this.#limits.startMs : this.#limits.exitMs)
  }

  end(): void {
    this.#wait.abort()
    this.#stage = 'working'
  }

  async #expire(stage: Stage, ms: number): Promise<void> {
    const { signal } = this.#wait
    await this.#timers.sleep(ms, signal)
    if (!signal.aborted) this.#overdue(stage, ms)
  }
}
