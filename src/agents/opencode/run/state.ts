import type { Usage } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import { type Ledger, newLedger } from '../../kit/ledger.ts'
import type { Failure } from '../errors.ts'

export interface RunCodecState {
  readonly start: Start
  readonly ledger: Ledger
  /** The servers configured for this session, to recognise their tools. */
  readonly mcpServers: readonly string[]
  nativeSessionId: string | undefined
  unnamed: number
  answer: string | undefined
  steps: Usage
  stepSeen: boolean
  /** A sub-agent ran, and its model calls are not on the stream. */
  delegated: boolean
  /** The finish reason of the last model call: the only evidence of the result. */
  reason: string | undefined
  /** A call of this step was denied on request: the run ends with the step. */
  rejected: boolean
  failure: Failure | undefined
}

export function initialState(start: Start): RunCodecState {
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

/** Generates an id for a part without one. */
export function generateId(state: RunCodecState): string {
  return `e${state.start.epoch}.p${++state.unnamed}`
}
