import type { PlanUpdated } from '../../../model/events/work.ts'
import type { ErrorInfo, Usage } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import type { Fields } from '../../kit/fields.ts'
import { type Ledger, newLedger } from '../../kit/ledger.ts'
import type { Declined } from '../refusals.ts'

/** The result of the turn as the agent reported it. */
export interface ExecResult {
  evidence: 'success' | 'error'
  error?: ErrorInfo
  usage?: Usage
}

/** An item of the documented format, which has no id: its fields so far. */
export interface FlatItem {
  id: string
  fields: Fields
  /** The emitted text of a message so far. */
  emitted: string
}

export type PlanStep = PlanUpdated['items'][number]

export interface ExecState {
  readonly start: Start
  readonly ledger: Ledger
  threadId: string | undefined
  /** The last message: Codex does not repeat its answer at the end. */
  answer: string | undefined
  /** The last emitted plan. */
  plan: readonly PlanStep[] | undefined
  result: ExecResult | undefined
  /** The last error, until work continues after it: the reason for an end without a result. */
  failure: ErrorInfo | undefined
  /** Sub-agents ran, and their model calls are missing from the usage of the turn. */
  delegated: boolean
  /** Open items of the documented format, by type. */
  readonly flat: Map<string, FlatItem>
  made: number
  /** Most ids occur twice in a row; reusing one string makes the comparison fast. */
  lastId: string
  declined: Declined
}

export function initialState(start: Start): ExecState {
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
    declined: { reported: 0, ended: 0 },
  }
}

export function knownId(state: ExecState, id: string): string {
  if (id !== state.lastId) state.lastId = id
  return state.lastId
}

/** Generates an id for an item without one. */
export function generateId(state: ExecState): string {
  return `f${++state.made}`
}
