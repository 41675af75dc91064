import type { Exit, StepReports } from '../../agents/agent.ts'
import type { UsageReported } from '../../model/events/report.ts'
import {
  addUsage,
  type Capabilities,
  type Cause,
  type Event,
  type Outcome,
  type Usage,
} from '../../model/index.ts'

/** How an agent reports usage. */
export interface UsageReports {
  capabilities?: Pick<Capabilities, 'usage'>
  steps?: StepReports
}

/**
 * Adds up what one turn used, from the reports of its model calls, for a turn that is cut: its agent often reports no
 * total then, and no agent reports the call that was cut.
 */
export class TurnUsage {
  readonly #reports: UsageReports
  /** Tool calls of the main thread that are open. */
  readonly #tools = new Set<string>()
  readonly #subagents = new Set<string>()
  #reported: Usage = {}
  /** The model call that asked for the open tools is reported. */
  #isReported = false
  /** The model has answered. */
  #hasWorked = false
  /** A model call was running when the turn was stopped. */
  #isCut: boolean | undefined

  constructor(reports: UsageReports = {}) {
    this.#reports = reports
  }

  observe(event: Event): void {
    switch (event.type) {
      case 'text.delta':
      case 'text.completed':
      case 'thinking.delta':
      case 'thinking.completed':
        this.#hasWorked = true
        break
      case 'tool.started':
        this.#hasWorked = true
        if (event.parent === undefined) this.#tools.add(event.toolId)
        break
      case 'tool.completed':
        // Tools that the end of the turn settles start no further call.
        if (event.settled || !this.#tools.delete(event.toolId)) break
        if (this.#tools.size === 0) this.#isReported = false
        break
      case 'subagent.started':
        this.#subagents.add(event.id)
        break
      case 'subagent.completed':
        this.#subagents.delete(event.id)
        break
      case 'usage.reported':
        this.#count(event)
        break
      default:
    }
  }

  /** Call before stopping the turn: records whether a model call is cut off. */
  stop(): void {
    this.#isCut ??= this.#isCalling()
  }

  /** The usage of a turn that was cut. `used` is the figure of its codec, if there is one. */
  ofCut(used: Usage | undefined): Usage | undefined {
    const isCut = this.#isCut ?? this.#isCalling()
    const known = used ?? this.#known
    return known && isCut ? { ...known, partial: true } : known
  }

  /** The usage of a turn whose owner went away, with any call that was running missing. */
  ofLost(): { usage?: Usage } {
    const known = this.#known
    return known ? { usage: { ...known, partial: true } } : {}
  }

  /** Of an agent that never reports usage, nothing is known and nothing is missing. */
  get #known(): Usage | undefined {
    const isReporting = this.#reports.capabilities?.usage !== 'none'
    return this.#hasWorked && isReporting ? this.#reported : undefined
  }

  #count(event: UsageReported): void {
    const { scope } = event
    if (scope !== 'step' && scope !== 'subagent') return
    this.#hasWorked = true
    this.#reported = addUsage(this.#reported, event)
    if (scope === 'step') this.#isReported = true
  }

  /** Between two model calls only tools run, and the call that asked for them is reported. */
  #isCalling(): boolean {
    if (this.#subagents.size > 0 || this.#reports.steps?.reported === 'after_tools') return true
    return this.#tools.size === 0 || !this.#isReported
  }
}

/** Whether the turn was cut off, so that a model call may be missing from its usage. */
export function isCutOff(outcome: Outcome, cause: Cause, exit: Exit | undefined): boolean {
  switch (outcome) {
    case 'interrupted':
    case 'timeout':
    case 'crashed':
    case 'lost':
      return true
    // An agent that enforces a limit itself ends between two calls.
    case 'max_steps':
    case 'max_budget':
      return cause === outcome
    default:
      return exit?.error !== undefined
  }
}
