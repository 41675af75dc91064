import type { Command } from '../../../model/index.ts'
import type { Write } from '../../agent.ts'
import { line } from '../../kit/decoded.ts'
import { type Fields, fields, text } from '../../kit/fields.ts'
import { applyAnswer } from './answers.ts'
import { inputText } from './items.ts'
import { type AppServerState, openTurn } from './state.ts'

/**
 * Encodes a call to the server. Our ids are strings, because the server's ids are numbers from 0 and must not collide.
 */
export function callServer(state: AppServerState, method: string, params: Fields): Write {
  const message = { id: `c${state.calls.next()}`, method, params }
  applySent(state, message)
  return line(message)
}

/** Pauses the goal first, because Codex would start its next turn right after the interrupt. */
export function interruptTurn(state: AppServerState, turnId: string): Write[] {
  return [...pauseGoal(state), callServer(state, 'turn/interrupt', { threadId: state.threadId, turnId })]
}

/** Pauses a goal that Codex works on, so that it starts no further turn by itself. */
export function pauseGoal(state: AppServerState): Write[] {
  if (!state.pursues) return []
  return [callServer(state, 'thread/goal/set', { threadId: state.threadId, status: 'paused' })]
}

/** A process may have several threads: the conversation is the one that receives our prompts. */
function setConversation(state: AppServerState, threadId: string | undefined): void {
  if (threadId !== undefined && !state.children.has(threadId)) state.threadId = threadId
}

/** Updates the state for a line sent to the agent; both our calls and transcripts use it. */
export function applySent(state: AppServerState, message: Fields): Command | undefined {
  const method = text(message, 'method')
  if (method === undefined) return applyAnswer(state, message)
  const params = fields(message, 'params')
  if (message.id !== undefined) state.calls.add(message.id, { method, params })
  switch (method) {
    case 'turn/start':
      // A prompt joins an open turn.
      if (state.turn) return { type: 'steer', text: inputText(params, 'input') }
      setConversation(state, text(params, 'threadId'))
      openTurn(state, params.outputSchema !== undefined && params.outputSchema !== null)
      return { type: 'prompt', text: inputText(params, 'input') }
    case 'thread/compact/start':
    case 'review/start': {
      const prompt = method === 'review/start' ? '/review' : '/compact'
      if (state.turn) return { type: 'steer', text: prompt }
      setConversation(state, text(params, 'threadId'))
      openTurn(state)
      markReview(state, method === 'review/start')
      return { type: 'prompt', text: prompt }
    }
    case 'thread/goal/get':
    case 'thread/goal/clear':
    case 'thread/goal/set': {
      const prompt = goalPrompt(method, params)
      if (method === 'thread/goal/set') state.pursues = prompt !== undefined
      if (prompt === undefined) return undefined
      if (state.turn) return { type: 'steer', text: prompt }
      setConversation(state, text(params, 'threadId'))
      openTurn(state)
      return { type: 'prompt', text: prompt }
    }
    case 'turn/steer':
      return { type: 'steer', text: inputText(params, 'input') }
    case 'turn/interrupt':
      state.calls.interrupt(message.id)
      return { type: 'interrupt' }
    default:
      return undefined
  }
}

/** The prompt of a call for a goal; undefined for a pause. */
function goalPrompt(method: string, params: Fields): string | undefined {
  if (method === 'thread/goal/get') return '/goal'
  if (method === 'thread/goal/clear') return '/goal clear'
  const objective = text(params, 'objective')
  return objective === undefined ? undefined : `/goal ${objective}`
}

function markReview({ turn }: AppServerState, reviews: boolean): void {
  if (turn) turn.reviews = reviews
}
