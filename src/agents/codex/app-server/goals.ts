import type { Decoded, Write } from '../../agent.ts'
import { emit, emitAll, nothing, skipped } from '../../kit/decoded.ts'
import { count, type Fields, fields, isFields, text } from '../../kit/fields.ts'
import { callServer } from './calls.ts'
import type { AppServerState } from './state.ts'
import { endTurn } from './turns.ts'

/** The call for a prompt that is `/goal`: shows the goal, ends it, or sets it, whereupon Codex starts a turn by itself. */
export function goalCall(state: AppServerState, argument: string): Write {
  const { threadId } = state
  if (argument === '') return callServer(state, 'thread/goal/get', { threadId })
  if (argument === 'clear') return callServer(state, 'thread/goal/clear', { threadId })
  return callServer(state, 'thread/goal/set', { threadId, objective: argument, status: 'active' })
}

/** Pauses an active goal: Codex would start its next turn right after an interrupt. */
export function pauseGoal(state: AppServerState): Write[] {
  if (state.goal !== 'active') return []
  return [callServer(state, 'thread/goal/set', { threadId: state.threadId, status: 'paused' })]
}

/** Ends the turn of a prompt that only shows or ends the goal. */
export function decodeGoalResponse(state: AppServerState, method: string, result: Fields): Decoded {
  if (!state.turn) return nothing
  const { goal } = result
  state.turn.answer =
    method === 'thread/goal/clear'
      ? 'The goal is cleared.'
      : isFields(goal)
        ? wordsOf(goal)
        : 'There is no goal.'
  return emitAll(endTurn(state, { evidence: 'success' }))
}

/** Reports a goal whose status has changed; its token counts change with each model call. */
export function decodeGoalUpdated(state: AppServerState, params: Fields): Decoded {
  const goal = fields(params, 'goal')
  const status = text(goal, 'status')
  if (text(params, 'threadId') !== state.threadId || status === state.goal) return skipped
  state.goal = status
  return emit({ type: 'notice.raised', level: 'info', code: 'goal_changed', message: wordsOf(goal) })
}

export function decodeGoalCleared(state: AppServerState, params: Fields): Decoded {
  if (text(params, 'threadId') === state.threadId) state.goal = undefined
  return nothing
}

function wordsOf(goal: Fields): string {
  const tokens = count(goal, 'tokensUsed') ?? 0
  const used = tokens > 0 ? `, ${tokens} tokens used` : ''
  return `The goal is ${text(goal, 'status') ?? '?'}${used}: ${text(goal, 'objective') ?? ''}`
}
