import type { Cause, Event, Policy } from '../model/index.ts'

/**
 * Counts the model calls of a turn and what they cost, for agents that cannot be told a limit. A call is told when
 * it is over, so a turn ends one call late and never early.
 */
export class TurnLimits {
  readonly #policy: Policy
  #steps = 0
  #costUsd = 0

  constructor(policy: Policy) {
    this.#policy = policy
  }

  /** Why the turn must end now, if it must. */
  hear(event: Event): Cause | undefined {
    if (event.type !== 'usage.reported' || event.scope !== 'step') return undefined
    const { maxSteps, maxBudgetUsd } = this.#policy
    this.#steps++
    this.#costUsd += event.costUsd ?? 0
    if (maxSteps !== undefined && this.#steps > maxSteps) return 'max_steps'
    return maxBudgetUsd !== undefined && this.#costUsd > maxBudgetUsd ? 'max_budget' : undefined
  }
}
