import type { Decoded, Emitted } from '../../agent.ts'
import { emitAll, nothing, unmapped } from '../../decoded.ts'
import { count, type Fields, fields, flag, text } from '../../fields.ts'
import { failureOf } from '../errors.ts'
import { isPruned } from '../tools.ts'
import { hold, release } from './frame-buffer.ts'
import { decodePart, isWords, withhold } from './parts.ts'
import type { Message, State } from './state.ts'
import { adoptRoot, restart, type Thread, threadOf } from './thread.ts'

/** A message and its role are repeated several times; only its first appearance and its end matter. */
export function decodeMessage(state: State, properties: Fields, raw: string): Decoded {
  const thread = threadOf(state, properties) ?? firstThread(state, properties)
  if (!thread) return nothing
  const info = fields(properties, 'info')
  const id = text(info, 'id')
  const role = text(info, 'role')
  if (id === undefined || (role !== 'user' && role !== 'assistant')) return unmapped('message.updated', raw)
  const known = state.messages.get(id)
  const message = known ?? newMessage(state, thread, role, info)
  if (!known) state.messages.set(id, message)
  if (message.turn !== state.turn) return nothing
  const emitted: Emitted[] = []
  if (!known) {
    if (thread === state.root) emitted.push(...appeared(state, id, role))
    else if (thread.ended && role === 'assistant') restart(thread)
    // An answer after an error means that the error did not end the turn.
    if (role === 'assistant') thread.failure = undefined
  }
  noteTime(state, message, fields(info, 'time'))
  if (thread === state.root && info.structured !== undefined) state.structured = info.structured
  if (role === 'assistant' && info.error !== undefined) {
    thread.failure ??= failureOf(fields(info, 'error'))
  }
  if (!known)
    emitted.push(...release(state, id, (held) => decodeMessagePart(state, held.properties, held.raw)))
  return emitAll(emitted)
}

function newMessage(state: State, thread: Thread, role: Message['role'], info: Fields): Message {
  // An answer to the prompt of an ended turn is late.
  const parent = text(info, 'parentID') ?? ''
  const asked = state.turnOpen ? state.messages.get(parent)?.turn : undefined
  const late = state.cutPrompt !== undefined && parent === state.cutPrompt
  const turn = late ? state.turn - 1 : (asked ?? state.turn)
  return { role, thread, turn, summary: role === 'assistant' && flag(info, 'summary'), done: false }
}

function noteTime(state: State, message: Message, time: Fields): void {
  const ours = message.thread === state.root
  if (message.role === 'user') {
    if (ours) state.beganAt ??= count(time, 'created')
    return
  }
  message.done ||= time.completed !== undefined
  if (ours) state.doneAt = count(time, 'completed') ?? state.doneAt
}

/** Without a session of ours, the first one on the stream is the recorded one. */
function firstThread(state: State, properties: Fields): Thread | undefined {
  const id = text(properties, 'sessionID')
  if (state.root || state.driven || id === undefined) return undefined
  return adoptRoot(state, id)
}

/** A new message on the main thread: a prompt that starts a turn, or an answer. */
function appeared(state: State, id: string, role: Message['role']): Emitted[] {
  if (role === 'assistant') return state.turnOpen ? [] : [beginTurn(state)]
  if (state.turnOpen) state.prompt ??= id
  else state.pendingTurn ??= id
  return []
}

/** A turn that our prompt did not open; one without any prompt was started by the agent. */
export function beginTurn(state: State, prompt?: string): Emitted {
  const origin = state.pendingTurn === undefined ? 'agent' : 'prompt'
  state.turnOpen = true
  state.prompt = state.pendingTurn
  state.pendingTurn = undefined
  return { type: 'turn.started', origin, ...(prompt !== undefined && { prompt }) }
}

export function decodeMessagePart(state: State, properties: Fields, raw: string): Decoded {
  const part = fields(properties, 'part')
  const messageId = text(part, 'messageID') ?? ''
  const message = state.messages.get(messageId)
  if (!message) {
    const foreign = state.root ? !threadOf(state, properties) : state.driven
    if (!foreign && !isPruned(fields(part, 'state')))
      hold(state.heldParts, messageId, { messageId, properties, raw })
    return nothing
  }
  if (message.turn !== state.turn) return nothing
  if (message.role === 'user') return emitAll(promptPart(state, messageId, message, part))
  return message.summary && isWords(part)
    ? withhold(state, message.thread, part)
    : decodePart(state, message.thread, part, raw)
}

/** The text of a prompt. Further prompts during a turn join it. */
function promptPart(state: State, id: string, message: Message, part: Fields): Emitted[] {
  const prompt = text(part, 'text')
  if (message.thread !== state.root || message.done || prompt === undefined || flag(part, 'synthetic'))
    return []
  message.done = true
  if (id === state.pendingTurn) return [beginTurn(state, prompt)]
  const joins = state.turnOpen && id !== state.prompt
  return joins ? [{ type: 'turn.steered', prompt, effect: 'folded' }] : []
}
