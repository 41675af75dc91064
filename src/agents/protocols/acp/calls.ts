import type { Command } from '../../../model/index.ts'
import { verbIn } from '../../../model/request/verb.ts'
import type { Write } from '../../agent.ts'
import { line } from '../../kit/decoded.ts'
import { type Fields, fields, isFields, list, number, text } from '../../kit/fields.ts'
import { applyAnswer } from './permissions.ts'
import { type AcpState, beginTurn } from './state.ts'
import { type AcpCall, isRpcId, requestMessage } from './wire.ts'

/** Sends a request to the agent and stores it for its response. */
export function call(state: AcpState, { method, params }: AcpCall): Write {
  const message = requestMessage(state.calls.next(), method, params)
  applySent(state, message)
  return line(message)
}

/** Updates the state for a message to the agent; both commands and transcripts use it. */
export function applySent(state: AcpState, message: Fields): Command | undefined {
  state.inputUnknown = false
  const params = fields(message, 'params')
  const method = text(message, 'method')
  if (method === undefined) return applyAnswer(state, message.id, fields(message, 'result'))
  if (method === 'session/cancel') {
    if (state.turn) state.turn.cancelling = true
    return { type: 'interrupt' }
  }
  if (!isRpcId(message.id)) return undefined
  state.calls.add(message.id, { method, params })
  switch (method) {
    case 'initialize':
      state.version = number(params, 'protocolVersion') ?? 1
      return undefined
    case 'session/new':
      return noteOpening(state, params)
    case 'session/load':
    case 'session/resume':
      state.sessionId = text(params, 'sessionId')
      // `session/load` repeats the history, `session/resume` does not.
      state.replaying = method === 'session/load'
      noteResumed(state)
      return noteOpening(state, params)
    case 'session/fork':
      noteResumed(state)
      return noteOpening(state, params)
    case 'session/prompt':
      return notePrompt(state, message.id, params)
    case 'session/set_mode':
    case 'session/set_model':
    case 'session/set_config_option':
      state.hasNewSettings = true
      return undefined
    default:
      return undefined
  }
}

function noteResumed(state: AcpState): void {
  state.resumed = true
  // The cost of earlier turns is known only if they were ours.
  state.costBefore = state.start.usageSoFar?.costUsd
}

function noteOpening(state: AcpState, params: Fields): undefined {
  for (const server of list(params, 'mcpServers')) {
    const name = isFields(server) ? text(server, 'name') : undefined
    if (name) state.mcpServers.push(name)
  }
}

function notePrompt(state: AcpState, id: string | number | null, params: Fields): Command | undefined {
  state.replaying = false
  const prompt = list(params, 'prompt')
    .map((block) => (isFields(block) ? (text(block, 'text') ?? '') : ''))
    .join('')
  state.prompted = true
  if (verbIn(prompt) === undefined) state.hasNewSettings = false
  const { turn } = state
  if (turn?.held) {
    turn.held = undefined
    turn.call = id
    return undefined
  }
  if (turn) {
    // Some agents queue it, others drop the first for it: its turn starts when the open one ends.
    state.waiting.push({ call: id, text: prompt })
    return undefined
  }
  // A process may have several sessions: the conversation is the one that receives our prompts.
  state.sessionId = text(params, 'sessionId') ?? state.sessionId
  beginTurn(state, id)
  return { type: 'prompt', text: prompt }
}
