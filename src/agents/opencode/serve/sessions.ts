import type { SessionUpdated } from '../../../model/events/session.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { emit, emitAll, nothing } from '../../decoded.ts'
import { compact, count, type Fields, fields, text } from '../../fields.ts'
import { discardMessage } from '../../messages.ts'
import { finishSubagent } from '../../subagents.ts'
import { modelName, planOf } from '../effects.ts'
import { errorNotice, failureOf, failureOfReason } from '../errors.ts'
import { beginTurn } from './messages.ts'
import type { State } from './state.ts'
import { adoptChild, adoptRoot, announce, type Thread, threadOf } from './thread.ts'
import { endTurn } from './turn.ts'

/** The first session without a parent is ours, unless we opened one; its descendants are sub-agents. */
export function decodeCreated(state: State, properties: Fields): Decoded {
  const info = fields(properties, 'info')
  const id = text(info, 'id') ?? text(properties, 'sessionID')
  const parent = text(info, 'parentID')
  if (id === undefined || (state.threads.has(id) && id !== state.root?.id)) return nothing
  if (parent === undefined) {
    if (!state.root && !state.driven) adoptRoot(state, id)
    return id === state.root?.id ? emitAll(update(state, factsOf(id, info))) : nothing
  }
  const above = state.threads.get(parent)
  // Emits nothing before the child works: the call that runs it will name it.
  if (above) adoptChild(state, id, above, text(info, 'title') ?? id, text(info, 'agent'))
  return nothing
}

export function decodeUpdated(state: State, properties: Fields): Decoded {
  const thread = threadOf(state, properties)
  if (!thread || thread !== state.root) return nothing
  return emitAll(update(state, factsOf(thread.id, fields(properties, 'info'))))
}

/** Only 1.17 reports the agent and the model of a prompt in these events; later versions update the session. */
export function decodeSwitch(state: State, properties: Fields): Decoded {
  const thread = threadOf(state, properties)
  if (!thread || thread !== state.root) return nothing
  const facts = { mode: text(properties, 'agent'), model: modelName(fields(properties, 'model')) }
  return emitAll(update(state, facts))
}

type Facts = { [K in keyof Omit<SessionUpdated, 'type'>]?: SessionUpdated[K] | undefined }

export function factsOf(id: string, info: Fields): Facts {
  return {
    nativeSessionId: id,
    agentVersion: text(info, 'version'),
    title: text(info, 'title'),
    model: modelName(fields(info, 'model')),
    mode: text(info, 'agent'),
  }
}

/** Emits only changed properties. */
export function update(state: State, facts: Facts): Emitted[] {
  const changed: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(facts)) {
    if (value !== undefined && value !== Reflect.get(state.known, key)) changed[key] = value
  }
  if (Object.keys(changed).length === 0) return []
  state.known = { ...state.known, ...changed }
  return [{ type: 'session.updated', ...changed }]
}

export function decodeStatus(state: State, properties: Fields): Decoded {
  const thread = threadOf(state, properties)
  const status = fields(properties, 'status')
  if (!thread) return nothing
  if (text(status, 'type') === 'busy') {
    if (thread !== state.root) return nothing
    const emitted = state.pendingTurn === undefined ? [] : [beginTurn(state)]
    state.busy = state.turnOpen
    return emitAll(emitted)
  }
  if (text(status, 'type') !== 'retry') return nothing
  const retry = compact({
    attempt: count(status, 'attempt'),
    message: text(status, 'message'),
    resetsAt: count(status, 'next'),
  })
  return emit(...discardOpen(state, thread), { type: 'limit.reported', kind: 'retry', ...retry })
}

/** The answer will be repeated in new parts: discards the parts that were shown. */
function discardOpen(state: State, thread: Thread): Emitted[] {
  const emitted: Emitted[] = []
  for (const [, { nativeId, parent }] of state.ledger.messages) {
    if (parent !== thread.speaker) continue
    const part = state.parts.get(nativeId)
    if (part) part.done = true
    emitted.push(...discardMessage(state.ledger, nativeId))
  }
  return emitted
}

export function decodeError(state: State, properties: Fields): Decoded {
  const error = fields(properties, 'error')
  const session = text(properties, 'sessionID')
  const thread = threadOf(state, properties)
  // An error without a session concerns the server; it ends no turn.
  if (!thread) return session === undefined ? emit(errorNotice(error)) : nothing
  const failure = failureOf(error)
  // The abort of an earlier turn may be reported or repeated after the next prompt is sent.
  const earlier = state.cutPrompt !== undefined || (state.wasAborted && !state.aborted)
  if (failure.evidence === 'aborted' && earlier && !state.busy) return nothing
  const emitted: Emitted[] = failure.evidence === 'aborted' ? [] : [errorNotice(error)]
  if (thread === state.root && state.pendingTurn !== undefined) emitted.unshift(beginTurn(state))
  // Between two turns there is no turn to end.
  if (thread !== state.root || state.turnOpen) thread.failure ??= failure
  // The idle event that would end the turn came before its reason, and no other one follows.
  if (thread !== state.root || !state.turnOpen || !state.idleAfterAbort) return emitAll(emitted)
  emitted.push(...endTurn(state))
  // A server that was aborted this early may never respond again: only a new process is safe.
  state.aborting = true
  return emitAll(emitted)
}

/**
 * The session is idle. After an abort or an error this is reported twice, and the last parts come in between. So it
 * counts only when every answer of the turn is done, and when there is an answer or an error at all, or when the abort
 * came before either.
 */
export function decodeIdle(state: State, properties: Fields): Decoded {
  const thread = threadOf(state, properties)
  if (!thread) return nothing
  let answers = 0
  for (const message of state.messages.values()) {
    if (message.thread !== thread || message.role !== 'assistant' || message.turn !== state.turn) continue
    if (!message.done) return nothing
    answers++
  }
  if (thread !== state.root)
    return answers === 0 && !thread.failure ? nothing : emitAll(endChild(state, thread))
  if (!state.turnOpen) return nothing
  if (answers > 0 || thread.failure) return emitAll(endTurn(state))
  // Work that had not started at the abort continues.
  if (!state.aborted || !state.busy) {
    state.idleAfterAbort = state.aborted
    return nothing
  }
  const { prompt } = state
  const emitted = endTurn(state)
  state.cutPrompt = prompt
  return emitAll(emitted)
}

function endChild(state: State, thread: Thread): Emitted[] {
  if (thread.ended) return []
  thread.ended = true
  const emitted = announce(state, thread)
  const failure = thread.failure ?? failureOfReason(thread.reason)
  const ended = !failure ? 'success' : failure.evidence === 'aborted' ? 'cancelled' : 'error'
  const usage = thread.stepSeen ? thread.usage : undefined
  const more = compact({ summary: thread.answer, usage })
  emitted.push(...finishSubagent(state.ledger, thread.id, { status: ended, ...more }))
  return emitted
}

export function decodeTodo(state: State, properties: Fields): Decoded {
  const thread = threadOf(state, properties)
  if (!thread) return nothing
  const parent = thread.speaker === undefined ? {} : { parent: thread.speaker }
  return emit(...announce(state, thread), { type: 'plan.updated', items: planOf(properties), ...parent })
}

export function decodeCompacted(state: State, properties: Fields): Decoded {
  return threadOf(state, properties) === state.root && state.root
    ? emit({ type: 'context.compacted' })
    : nothing
}
