import type { Emitted } from '../../agent.ts'
import { type Fields, isFields } from '../../kit/fields.ts'
import { type AcpState, type AcpTurn, beginTurn } from './state.ts'

/** The turn that content belongs to; undefined while its prompt is not sent yet. */
export function runningTurn(state: AcpState): AcpTurn | undefined {
  return state.turn?.held === undefined ? state.turn : undefined
}

/** Content without an open turn: the agent continues by itself, or the recording lacks our input. */
export function openTurn(state: AcpState, meta: Fields | undefined): Emitted[] {
  const own = meta !== undefined && isFields(meta.backgroundTurn)
  if (state.turn || !(own || state.inputUnknown)) return []
  beginTurn(state)
  return [{ type: 'turn.started', origin: own ? 'agent' : 'prompt' }]
}

/** Text between turns belongs to no turn but must not be lost. */
export function strayText(message: string): Emitted[] {
  if (message === '') return []
  return [{ type: 'notice.raised', level: 'info', code: 'late_frame', message }]
}
