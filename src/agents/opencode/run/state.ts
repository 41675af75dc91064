import type { Usage } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import { type Ledger, newLedger } from '../../ledger.ts'
import type { Failure } from '../errors.ts'

export interface State {
  readonly start: Start
  readonly ledger: Ledger
  /** The servers that were configured for this session, to tell their tools from others. */
  readonly mcpServers: readonly string[]
  nativeSessionId: string | undefined
  unnamed: number
  answer: string | undefined
  steps: Usage
  stepSeen: boolean
  /** A sub-agent worked, and its model calls are not on the stream. */
  delegated: boolean
  /** How the last model call ended: the only word on how the run went. */
  reason: string | undefined
  /** Somebody was asked about a call of this step and said no: the run ends with the step. */
  rejected: boolean
  failure: Failure | undefined
}

export function initialState(start: Start): State {
  return {
    start,
    ledger: newLedger(),
    mcpServers: Object.keys(start.options.mcpServers ?? {}),
    nativeSessionId: undefined,
    unnamed: 0,
    answer: undefined,
    steps: {},
    stepSeen: false,
    delegated: false,
    reason: undefined,
    rejected: false,
    failure: undefined,
  }
}

/** For a part that has no id. */
export function madeId(state: State): string {
  return `e${state.start.epoch}.p${++state.unnamed}`
}
