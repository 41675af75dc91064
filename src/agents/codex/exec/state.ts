import type { PlanUpdated } from '../../../model/events/work.ts'
import type { ErrorInfo, Usage } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import type { Fields } from '../../fields.ts'
import { type Ledger, newLedger } from '../../ledger.ts'
import type { Declined } from '../refusals.ts'

/** How the turn went, in the agent's own word. */
export interface Result {
  evidence: 'success' | 'error'
  error?: ErrorInfo
  usage?: Usage
}

/** An item of the documented shape, which has no id: its fields so far. */
export interface FlatItem {
  id: string
  fields: Fields
  /** The text of a message that was said so far. */
  emitted: string
}

export type PlanStep = PlanUpdated['items'][number]

export interface State {
  readonly start: Start
  readonly ledger: Ledger
  threadId: string | undefined
  /** The last message: Codex does not repeat its answer at the end. */
  answer: string | undefined
  /** The plan as it was last said. */
  plan: readonly PlanStep[] | undefined
  result: Result | undefined
  /** The last error, until work goes on after it: the reason for an end without a result. */
  failure: ErrorInfo | undefined
  /** Sub-agents worked, and their model calls are not in the figures of the turn. */
  delegated: boolean
  /** Open items of the documented shape, by their type. */
  readonly flat: Map<string, FlatItem>
  made: number
  /** Most ids are named twice in a row, and one string for both is found at once. */
  lastId: string
  declined: Declined
}

export function initialState(start: Start): State {
  return {
    start,
    ledger: newLedger(`e${start.epoch}.`),
    threadId: undefined,
    answer: undefined,
    plan: undefined,
    result: undefined,
    failure: undefined,
    delegated: false,
    flat: new Map(),
    made: 0,
    lastId: '',
    declined: { told: 0, ended: 0 },
  }
}

export function knownId(state: State, id: string): string {
  if (id !== state.lastId) state.lastId = id
  return state.lastId
}

/** An id for what comes without one. */
export function madeId(state: State): string {
  return `f${++state.made}`
}
