import type { Emitted } from '../../agent.ts'
import { type Fields, isFields } from '../../fields.ts'
import { beginTurn, type State, type Turn } from './state.ts'

/** The turn that content belongs to; one whose prompt is not sent yet has none. */
export function runningTurn(state: State): Turn | undefined {
  return state.turn?.held === undefined ? state.turn : undefined
}

/** Content without an open turn: the agent goes on by itself, or we cannot hear what it is told. */
export function openTurn(state: State, meta: Fields | undefined): Emitted[] {
  const own = meta !== undefined && isFields(meta.backgroundTurn)
  if (state.turn || !(own || state.deaf)) return []
  beginTurn(state)
  return [{ type: 'turn.started', origin: own ? 'agent' : 'prompt' }]
}

/** What comes between turns belongs to none, and still must not get lost. */
export function strayText(message: string): Emitted[] {
  if (message === '') return []
  return [{ type: 'notice.raised', level: 'info', code: 'late_frame', message }]
}
