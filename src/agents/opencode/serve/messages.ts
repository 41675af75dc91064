import type { Decoded, Emitted } from '../../agent.ts'
import { emitAll, held, skipped, unmapped } from '../../kit/decoded.ts'
import { count, type Fields, fields, flag, text } from '../../kit/fields.ts'
import { failureOf } from '../errors.ts'
import { resetWork, type SessionThread, threadOf } from '../threads.ts'
import { isPruned } from '../tools.ts'
import { hold, release } from './frame-buffer.ts'
import { decodePart, isWords, withhold } from './parts.ts'
import type { ServeMessage, ServeState } from './state.ts'
import { adoptRoot } from './state.ts'

/** A message and its role are repeated several times; only its first appearance and its end matter. */
export function decodeMessage(state: ServeState, properties: Fields, raw: string): Decoded {
  const thread = threadOf(state, properties) ?? firstThread(state, properties)
  if (!thread) return skipped
  const info = fields(properties, 'info')
  const id = text(info, 'id')
  const role = text(info, 'role')
  if (id === undefined || (role !== 'user' && role !== 'assistant')) return unmapped('message.updated', raw)
  const known = state.messages.get(id)
  const message = known ?? newMessage(state, thread, role, info)
  if (!known) state.messages.set(id, message)
  if (message.turn !== state.turn.number) return skipped
  const emitted: Emitted[] = []
  if (!known) {
    if (thread === state.root) emitted.push(...appeared(state, id, role))
    else if (thread.ended && role === 'assistant') resetWork(thread)
    // An answer after an error means that the error did not end the turn.
    if (role === 'assistant') thread.failure = undefined
  }
  noteTime(state, message, fields(info, 'time'))
  if (thread === state.root && info.structured !== undefined) state.turn.structured = info.structured
  if (role === 'assistant' && info.error !== undefined) {
    thread.failure ??= failureOf(fields(info, 'error'))
  }
  if (!known)
    emitted.push(...release(state, id, (held) => decodeMessagePart(state, held.properties, held.raw)))
  return emitAll(emitted)
}

function newMessage(
  state: ServeState,
  thread: SessionThread,
  role: ServeMessage['role'],
  info: Fields,
): ServeMessage {
  // An answer to the prompt of an ended turn is late.
  const parent = text(info, 'parentID') ?? ''
  const asked = state.turn.open ? state.messages.get(parent)?.turn : undefined
  const late = state.turn.cutPrompt !== undefined && parent === state.turn.cutPrompt
  const turn = late ? state.turn.number - 1 : (asked ?? state.turn.number)
  return { role, thread, turn, summary: role === 'assistant' && flag(info, 'summary'), done: false }
}

function noteTime(state: ServeState, message: ServeMessage, time: Fields): void {
  const ours = message.thread === state.root
  state.clock = Math.max(state.clock, count(time, 'completed') ?? count(time, 'created') ?? 0)
  if (message.role === 'user') {
    if (ours) state.turn.beganAt ??= count(time, 'created')
    return
  }
  message.done ||= time.completed !== undefined
  if (ours) state.turn.doneAt = count(time, 'completed') ?? state.turn.doneAt
}

/** Without a session of ours, the first one on the stream is the recorded one. */
function firstThread(state: ServeState, properties: Fields): SessionThread | undefined {
  const id = text(properties, 'sessionID')
  if (state.root || state.driven || id === undefined) return undefined
  return adoptRoot(state, id)
}

/** A new message on the main thread: a prompt that starts a turn, or an answer. */
function appeared(state: ServeState, id: string, role: ServeMessage['role']): Emitted[] {
  if (role === 'assistant') return state.turn.open ? [] : [beginTurn(state)]
  if (state.turn.open) state.turn.prompt ??= id
  else state.turn.pendingTurn ??= id
  return []
}

/** A turn that our prompt did not open; one without any prompt was started by the agent. */
export function beginTurn(state: ServeState, prompt?: string): Emitted {
  const origin = state.turn.pendingTurn === undefined ? 'agent' : 'prompt'
  state.turn.open = true
  state.turn.prompt = state.turn.pendingTurn
  state.turn.pendingTurn = undefined
  return { type: 'turn.started', origin, ...(prompt !== undefined && { prompt }) }
}

export function decodeMessagePart(state: ServeState, properties: Fields, raw: string): Decoded {
  const part = fields(properties, 'part')
  const messageId = text(part, 'messageID') ?? ''
  const message = state.messages.get(messageId)
  if (!message) {
    const foreign = state.root ? !threadOf(state, properties) : state.driven
    if (!foreign && !isPruned(fields(part, 'state')))
      hold(state.heldParts, messageId, { messageId, properties, raw })
    return skipped
  }
  if (message.turn !== state.turn.number) return skipped
  if (message.role === 'user') {
    const emitted = promptPart(state, messageId, message, part)
    // An echo of our prompt.
    return text(part, 'text') === undefined ? emitAll(emitted) : held(emitted)
  }
  return message.summary && isWords(part)
    ? withhold(state, message.thread, part)
    : decodePart(state, message.thread, part, raw)
}

/** The text of a prompt. Further prompts during a turn join it. */
function promptPart(state: ServeState, id: string, message: ServeMessage, part: Fields): Emitted[] {
  const prompt = text(part, 'text')
  if (message.thread !== state.root || message.done || prompt === undefined || flag(part, 'synthetic'))
    return []
  message.done = true
  if (id === state.turn.pendingTurn) return [beginTurn(state, prompt)]
  const joins = state.turn.open && id !== state.turn.prompt
  return joins ? [{ type: 'turn.steered', prompt, effect: 'folded' }] : []
}
