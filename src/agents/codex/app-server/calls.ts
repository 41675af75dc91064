import type { Command } from '../../../model/index.ts'
import type { Write } from '../../agent.ts'
import { line } from '../../decoded.ts'
import { type Fields, fields, text } from '../../fields.ts'
import { noteAnswer } from './answers.ts'
import { inputText } from './items.ts'
import { openTurn, type State } from './state.ts'

/** A call of ours. Its id is a string: the server's own ids are numbers from 0, and the two must not meet. */
export function callServer(state: State, method: string, params: Fields): Write {
  const message = { id: `c${++state.callCount}`, method, params }
  note(state, message)
  return line(message)
}

export function interruptTurn(state: State, turnId: string): Write {
  return callServer(state, 'turn/interrupt', { threadId: state.threadId, turnId })
}

/** A process may have several threads: the conversation is the one that is spoken to. */
function talkIn(state: State, threadId: string | undefined): void {
  if (threadId !== undefined && !state.children.has(threadId)) state.threadId = threadId
}

/** What a line to the agent means for the state, whoever wrote it: our calls and transcripts come through here. */
export function note(state: State, message: Fields): Command | undefined {
  const method = text(message, 'method')
  if (method === undefined) return noteAnswer(state, message)
  const params = fields(message, 'params')
  if (message.id !== undefined) state.calls.set(message.id, { method, params })
  switch (method) {
    case 'turn/start':
      // A prompt while a turn is open joins it.
      if (state.turn) return { type: 'steer', text: inputText(params, 'input') }
      talkIn(state, text(params, 'threadId'))
      openTurn(state, params.outputSchema !== undefined && params.outputSchema !== null)
      return { type: 'prompt', text: inputText(params, 'input') }
    case 'turn/steer':
      return { type: 'steer', text: inputText(params, 'input') }
    case 'turn/interrupt':
      state.interrupts.add(message.id)
      return { type: 'interrupt' }
    default:
      return undefined
  }
}
