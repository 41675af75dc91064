import type { Decoded, Doubt, Emitted, Write } from '../../agent.ts'
import { nothing, send } from '../../kit/decoded.ts'
import { count, type Fields, fields, flag, isFields, list, objects, text } from '../../kit/fields.ts'
import { withdrawRequest } from '../../kit/requests.ts'
import type { SessionThread } from '../threads.ts'
import { decodeMessage, decodeMessagePart } from './messages.ts'
import { isWords } from './parts.ts'
import { decodePermission, decodeQuestion } from './requests.ts'
import { decodeIdle, decodeTodo } from './sessions.ts'
import type { Recovery, ServeAsk, ServeState } from './state.ts'
import { endTurn } from './turn.ts'

/**
 * The stream cannot be replayed. A second one missed what happened before it, so the stored state is read after it has
 * begun: the messages of the turn, the open requests, and which sessions still work.
 */
export function readState(state: ServeState): Decoded {
  const { root, turn } = state
  if (!root || !turn.open) return nothing
  // Their next deltas follow some that were missed: the whole text comes with the end of the part.
  for (const part of turn.parts.values()) if (!part.done) part.isGapped = true
  state.recovery = {
    requests: [...state.ledger.requests.keys()],
    idle: new Set(),
    read: new Set([root.id]),
    texts: new Set(),
  }
  return send([
    read(`state message ${root.id}`, messagesOf(root)),
    read('state permission', '/permission'),
    read('state question', '/question'),
    read('state todo', `/session/${root.id}/todo`),
    read('state status', '/session/status'),
  ])
}

function read(tag: string, path: string): Write {
  return { kind: 'http', method: 'GET', path, tag }
}

function messagesOf({ id }: SessionThread): string {
  return `/session/${id}/message`
}

/** A prompt has no id of ours, so a second one would be another one; the stored messages show whether the first arrived. */
export function doubtful(state: ServeState, write: Write): Doubt | undefined {
  if (write.kind !== 'http') return undefined
  if (write.tag !== 'prompt' && write.tag !== 'steer') return 'again'
  const [part] = list(isFields(write.body) ? write.body : {}, 'parts')
  const asked = (isFields(part) ? text(part, 'text') : undefined) ?? ''
  if (write.tag === 'prompt') state.turn.isDoubtful = true
  else state.turn.doubtfulSteers.push(asked)
  return 'watch'
}

/** Applies one of the responses. Parts that the stream has reported are left as they are. */
export function applyState(state: ServeState, native: Fields): Decoded {
  const { recovery, turn } = state
  if (!recovery || !turn.open) return nothing
  const [, what = '', id = ''] = (text(native, 'tag') ?? '').split(' ')
  const thread = state.threads.get(id)
  switch (what) {
    case 'message':
      return thread ? withChildren(state, recovery, readMessages(state, recovery, thread, native)) : nothing
    case 'last':
      return thread ? readLast(state, recovery, thread, native) : nothing
    case 'permission':
    case 'question':
      return readRequests(state, recovery, what, objects(native, 'body'))
    case 'todo':
      return list(native, 'body').length === 0
        ? nothing
        : decodeTodo(state, { sessionID: state.root?.id, todos: native.body })
    case 'status':
      return readStatus(state, recovery, fields(native, 'body'))
    default:
      return nothing
  }
}

/** The messages of the turn, oldest first. */
function readMessages(
  state: ServeState,
  recovery: Recovery,
  thread: SessionThread,
  native: Fields,
): Emitted[] {
  const messages = objects(native, 'body')
  const from = thread === state.root ? promptIn(state, messages) : childStart(state, messages)
  if (from < 0) return []
  const emitted: Emitted[] = []
  const texts: string[] = []
  for (const message of messages.slice(from)) {
    const info = fields(message, 'info')
    const raw = JSON.stringify(message)
    emitted.push(...decodeMessage(state, { sessionID: thread.id, info }, raw).emitted)
    const isAnswer = text(info, 'role') === 'assistant'
    for (const part of objects(message, 'parts')) {
      const id = text(part, 'id') ?? ''
      const isMissing = isAnswer && isMissed(state, id)
      if (isMissing) recovery.gapped = id
      emitted.push(...decodeMessagePart(state, { sessionID: thread.id, part }, raw).emitted)
      recovery.gapped = undefined
      if (isMissing && isWords(part) && !recovery.texts.has(id)) texts.push(id)
    }
  }
  for (const id of texts) recovery.texts.add(id)
  if (texts.length > 0) emitted.push(textsMissed(thread, texts))
  return emitted
}

/** Some of its deltas came on no stream. */
function isMissed({ turn }: ServeState, id: string): boolean {
  const known = turn.parts.get(id)
  return known === undefined || (known.isGapped && !known.done)
}

function textsMissed({ id }: SessionThread, parts: readonly string[]): Emitted {
  const message = `the event stream was interrupted: these texts come from the stored messages, without some of their deltas: ${parts.join(', ')}`
  const data = { session: id, parts }
  return { type: 'notice.raised', level: 'warning', code: 'events_missing', message, data }
}

/** The prompt of the turn; -1 if it is not stored. One that was never seen is newer than all that was. */
function promptIn(state: ServeState, messages: readonly Fields[]): number {
  const { prompt, since } = state.turn
  const infos = messages.map((message) => fields(message, 'info'))
  if (prompt !== undefined) return infos.findIndex(({ id }) => id === prompt)
  return infos.findIndex((info) => {
    const isKnown = state.messages.has(text(info, 'id') ?? '')
    return text(info, 'role') === 'user' && !isKnown && createdAt(info) >= since
  })
}

/** A sub-agent may have been resumed: its earlier messages belong to earlier turns. */
function childStart({ turn }: ServeState, messages: readonly Fields[]): number {
  return messages.findIndex((message) => createdAt(fields(message, 'info')) >= (turn.beganAt ?? 0))
}

function createdAt(info: Fields): number {
  return count(fields(info, 'time'), 'created') ?? 0
}

/** Reads sub-agents that were not known before. */
function withChildren(state: ServeState, recovery: Recovery, emitted: readonly Emitted[]): Decoded {
  const writes: Write[] = []
  for (const thread of state.threads.values()) {
    if (recovery.read.has(thread.id)) continue
    recovery.read.add(thread.id)
    writes.push(read(`state message ${thread.id}`, messagesOf(thread)))
  }
  return send(writes, emitted)
}

function readRequests(
  state: ServeState,
  { requests }: Recovery,
  kind: ServeAsk['kind'],
  listed: readonly Fields[],
): Decoded {
  const known = new Set(listed.map((one) => text(one, 'id')))
  const emitted: Emitted[] = []
  for (const [requestId, { ask }] of state.ledger.requests) {
    if (ask.kind !== kind || known.has(ask.nativeId) || !requests.includes(requestId)) continue
    emitted.push(...withdrawRequest(state.ledger, requestId, 'answered_elsewhere'))
  }
  const decode = kind === 'permission' ? decodePermission : decodeQuestion
  for (const one of listed) emitted.push(...decode(state, one, JSON.stringify(one)).emitted)
  return send([], emitted)
}

/**
 * A session without a status is idle: it ended while nothing was received, or the prompt never reached it. The messages
 * that were read before may lack its last ones, so they are read again; those of the root last, because they end the turn.
 */
function readStatus(state: ServeState, recovery: Recovery, statuses: Fields): Decoded {
  const { root } = state
  if (!root) return nothing
  for (const id of state.threads.keys()) {
    const status = text(fields(statuses, id), 'type')
    if (status === undefined || status === 'idle') recovery.idle.add(id)
  }
  const children = [...state.threads.values()].filter((thread) => thread !== root && !thread.ended)
  return send([...children, root].map((thread) => read(`state last ${thread.id}`, messagesOf(thread))))
}

function readLast(state: ServeState, recovery: Recovery, thread: SessionThread, native: Fields): Decoded {
  const { turn } = state
  const emitted = readMessages(state, recovery, thread, native)
  if (thread === state.root) {
    emitted.push(...steersMissing(state, objects(native, 'body')))
    state.recovery = undefined
  }
  if (!recovery.idle.has(thread.id)) return send([], emitted)
  emitted.push(...decodeIdle(state, { sessionID: thread.id }).emitted)
  if (thread !== state.root || state.turn !== turn) return send([], emitted)
  if (turn.prompt === undefined && !turn.isDoubtful) return send([], emitted)
  const hasAnswer = [...state.messages.values()].some(
    (message) => message.turn === turn.number && message.role === 'assistant',
  )
  // It will never answer: its end, with the reason, was on no stream.
  if (!hasAnswer) emitted.push(...endTurn(state, undefined, lostOf(turn.prompt)))
  return send([], emitted)
}

function lostOf(prompt: string | undefined): string {
  return prompt === undefined
    ? 'the server ended while it sent the prompt, and opencode does not have it; it was not sent again'
    : 'opencode ended the turn without an answer while no server was running'
}

function steersMissing(state: ServeState, messages: readonly Fields[]): Emitted[] {
  const asked = state.turn.doubtfulSteers
  state.turn.doubtfulSteers = []
  const stored = messages.flatMap((message) =>
    objects(message, 'parts').flatMap((part) => (flag(part, 'synthetic') ? [] : (text(part, 'text') ?? []))),
  )
  return asked
    .filter((one) => !stored.includes(one))
    .map((one) => ({
      type: 'notice.raised',
      level: 'warning',
      code: 'protocol_refused',
      message: 'the server ended while it steered the turn, and opencode does not have the message',
      data: { text: one },
    }))
}
