import type { Decoded, Write } from '../../agent.ts'
import { emit, emitAll, nothing, skipped } from '../../kit/decoded.ts'
import { count, type Fields, fields, isFields, text } from '../../kit/fields.ts'
import { callServer } from './calls.ts'
import type { AppServerState } from './state.ts'
import { endTurn } from './turns.ts'

/** The call for a prompt that is `/goal`: shows the goal, ends it, or sets it, whereupon Codex starts a turn by itself. */
export function goalCall(state: AppServerState, argument: string): Write {
  const { threadId } = state
  if (!isWork(argument))
    return callServer(state, argument === '' ? 'thread/goal/get' : 'thread/goal/clear', { threadId })
  return callServer(state, 'thread/goal/set', { threadId, objective: argument, status: 'active' })
}

/** The prompt `/goal` sets a goal to work on, and does not only show or end it. */
export function isWork(argument: string): boolean {
  return argument !== '' && argument !== 'clear'
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
  updateGoal(state, status)
  return emit({ type: 'notice.raised', level: 'info', code: 'goal_changed', message: wordsOf(goal) })
}

export function decodeGoalCleared(state: AppServerState, params: Fields): Decoded {
  if (text(params, 'threadId') === state.threadId) updateGoal(state, undefined)
  return nothing
}

function updateGoal(state: AppServerState, status: string | undefined): void {
  state.goal = status
  state.pursues = status === 'active'
}

function wordsOf(goal: Fields): string {
  const tokens = count(goal, 'tokensUsed') ?? 0
  const used = tokens > 0 ? `, ${tokens} tokens used` : ''
  return `The goal is ${text(goal, 'status') ?? '?'}${used}: ${text(goal, 'objective') ?? ''}`
}
