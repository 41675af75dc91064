import type { Command } from '../../../model/index.ts'
import type { Write } from '../../agent.ts'
import { line } from '../../decoded.ts'
import { type Fields, fields, isFields, list, number, text } from '../../fields.ts'
import { noteAnswer } from './permissions.ts'
import { beginTurn, type State } from './state.ts'
import { isRpcId, requestMessage, type Sent } from './wire.ts'

/** Asks the agent for something; its answer will find the question here. */
export function call(state: State, { method, params }: Sent): Write {
  const message = requestMessage(++state.callCount, method, params)
  note(state, message)
  return line(message)
}

/** What a message to the agent means for the state, whoever wrote it: commands and transcripts come through here. */
export function note(state: State, message: Fields): Command | undefined {
  state.deaf = false
  const params = fields(message, 'params')
  const method = text(message, 'method')
  if (method === undefined) return noteAnswer(state, message.id, fields(message, 'result'))
  if (method === 'session/cancel') {
    if (state.turn) state.turn.cancelling = true
    return { type: 'interrupt' }
  }
  if (!isRpcId(message.id)) return undefined
  state.calls.set(message.id, { method, params })
  switch (method) {
    case 'initialize':
      state.version = number(params, 'protocolVersion') ?? 1
      return undefined
    case 'session/new':
      return noteOpening(state, params)
    case 'session/load':
    case 'session/resume':
      state.sessionId = text(params, 'sessionId')
      // What was said before is repeated by the one and not by the other.
      state.replaying = method === 'session/load'
      // What earlier turns have cost is known only of turns that were ours.
      state.costBefore = state.start.spent?.costUsd
      return noteOpening(state, params)
    case 'session/prompt':
      return notePrompt(state, message.id, params)
    default:
      return undefined
  }
}

function noteOpening(state: State, params: Fields): undefined {
  for (const server of list(params, 'mcpServers')) {
    const name = isFields(server) ? text(server, 'name') : undefined
    if (name) state.mcpServers.push(name)
  }
}

function notePrompt(state: State, id: string | number | null, params: Fields): Command | undefined {
  state.replaying = false
  const prompt = list(params, 'prompt')
    .map((block) => (isFields(block) ? (text(block, 'text') ?? '') : ''))
    .join('')
  const { turn } = state
  if (turn?.held) {
    turn.held = undefined
    turn.call = id
    return undefined
  }
  if (turn) {
    // Some agents queue it, others drop the first for it: its own turn begins when the open one ends.
    state.waiting.push({ call: id, text: prompt })
    return undefined
  }
  // A process may have several sessions: the conversation is the one that is spoken to.
  state.sessionId = text(params, 'sessionId') ?? state.sessionId
  beginTurn(state, id)
  return { type: 'prompt', text: prompt }
}
