import type { StepReports } from '../../agents/agent.ts'
import type { Cause, Event, Policy } from '../../model/index.ts'

/** The events that limits are counted by. */
export function isCounted({ type }: Event): boolean {
  return type === 'usage.reported' || type === 'tool.started' || type === 'tool.completed'
}

/**
 * Enforces `maxSteps` and `maxBudgetUsd` of one turn, for agents that do not. A call that asks for tools leads to
 * another call, so the last allowed one is stopped as soon as it does; a call without tools ends the turn by itself.
 */
export class TurnLimits {
  readonly #policy: Policy
  readonly #reports: StepReports
  /** Tool calls of the main thread that are open. */
  readonly #tools = new Set<string>()
  #steps = 0
  #costUsd = 0

  constructor(policy: Policy, reports: StepReports = {}) {
    this.#policy = policy
    this.#reports = reports
  }

  /** Returns the limit that the event reaches, if any. */
  observe(event: Event): Cause | undefined {
    switch (event.type) {
      case 'tool.started':
        if (event.parent !== undefined) return undefined
        this.#tools.add(event.toolId)
        return this.#needsOneMore() ? 'max_steps' : undefined
      case 'tool.completed':
        this.#tools.delete(event.toolId)
        return undefined
      case 'usage.reported':
        return this.#count(event)
      default:
        return undefined
    }
  }

  #count({ scope, costUsd = 0 }: Extract<Event, { type: 'usage.reported' }>): Cause | undefined {
    if (scope !== 'step' && scope !== 'subagent') return undefined
    const { maxSteps, maxBudgetUsd } = this.#policy
    this.#costUsd += costUsd
    if (maxBudgetUsd !== undefined && this.#costUsd > maxBudgetUsd) return 'max_budget'
    if (scope === 'subagent') return undefined
    this.#steps++
    if (maxSteps !== undefined && this.#steps > maxSteps) return 'max_steps'
    const isAsking = this.#tools.size > 0 && this.#reports.reported !== 'after_tools'
    return isAsking && this.#needsOneMore() ? 'max_steps' : undefined
  }

  /** A tool call is open: is the call that asked for it the last one allowed? */
  #needsOneMore(): boolean {
    const { maxSteps } = this.#policy
    if (maxSteps === undefined || this.#reports.limit === 'native') return false
    const asking = this.#reports.reported === 'after_tools' ? this.#steps + 1 : this.#steps
    return asking >= maxSteps
  }
}
