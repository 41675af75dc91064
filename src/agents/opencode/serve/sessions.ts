import { epochMs } from '../../../model/text/epoch-ms.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { emit, emitAll, held, nothing, skipped } from '../../kit/decoded.ts'
import { compact, count, type Fields, fields, text } from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { discardMessage } from '../../kit/messages.ts'
import { finishSubagent } from '../../kit/subagents.ts'
import { factsOf, modelName, planOf } from '../effects.ts'
import { errorNotice, failureOf, failureOfReason } from '../errors.ts'
import { announce, type SessionThread, threadOf } from '../threads.ts'
import { beginTurn } from './messages.ts'
import type { ServeState } from './state.ts'
import { adoptChild, adoptRoot } from './state.ts'
import { endTurn } from './turn.ts'

/** The first session without a parent is ours, unless we opened one; its descendants are sub-agents. */
export function decodeCreated(state: ServeState, properties: Fields): Decoded {
  const info = fields(properties, 'info')
  const id = text(info, 'id') ?? text(properties, 'sessionID')
  const parent = text(info, 'parentID')
  if (id === undefined || (state.threads.has(id) && id !== state.root?.id)) return skipped
  if (parent === undefined) {
    if (!state.root && !state.driven) adoptRoot(state, id)
    return id === state.root?.id ? emitAll(updateSession(state, factsOf(id, info))) : skipped
  }
  const above = state.threads.get(parent)
  // Emits nothing before the child works: the call that runs it will name it.
  if (above) adoptChild(state, id, above, text(info, 'title') ?? id, text(info, 'agent'))
  return skipped
}

export function decodeUpdated(state: ServeState, properties: Fields): Decoded {
  const thread = threadOf(state, properties)
  if (!thread || thread !== state.root) return skipped
  return emitAll(updateSession(state, factsOf(thread.id, fields(properties, 'info'))))
}

/** Only 1.17 reports the agent and the model of a prompt in these events; later versions update the session. */
export function decodeSwitch(state: ServeState, properties: Fields): Decoded {
  const thread = threadOf(state, properties)
  if (!thread || thread !== state.root) return skipped
  const facts = { mode: text(properties, 'agent'), model: modelName(fields(properties, 'model')) }
  return emitAll(updateSession(state, facts))
}

export function decodeStatus(state: ServeState, properties: Fields): Decoded {
  const thread = threadOf(state, properties)
  const status = fields(properties, 'status')
  if (!thread) return skipped
  if (text(status, 'type') === 'busy') {
    if (thread !== state.root) return skipped
    const emitted = state.turn.pendingTurn === undefined ? [] : [beginTurn(state)]
    state.turn.busy = state.turn.open
    return emitAll(emitted)
  }
  if (text(status, 'type') !== 'retry') return nothing
  const retry = compact({
    attempt: count(status, 'attempt'),
    message: text(status, 'message'),
    resetsAt: epochMs(count(status, 'next')),
  })
  return emit(...discardOpen(state, thread), { type: 'limit.reported', kind: 'retry', ...retry })
}

/** The answer will be repeated in new parts: discards the parts that were shown. */
function discardOpen(state: ServeState, thread: SessionThread): Emitted[] {
  const emitted: Emitted[] = []
  for (const [, { nativeId, parent }] of state.ledger.messages) {
    if (parent !== thread.speaker) continue
    const part = state.turn.parts.get(nativeId)
    if (part) part.done = true
    emitted.push(...discardMessage(state.ledger, nativeId))
  }
  return emitted
}

export function decodeError(state: ServeState, properties: Fields): Decoded {
  const error = fields(properties, 'error')
  const session = text(properties, 'sessionID')
  const thread = threadOf(state, properties)
  // An error without a session concerns the server; it ends no turn.
  if (!thread) return session === undefined ? emit(errorNotice(error)) : skipped
  const failure = failureOf(error)
  // The abort of an earlier turn may be reported or repeated after the next prompt is sent.
  const earlier = state.turn.cutPrompt !== undefined || (state.wasAborted && !state.turn.aborted)
  if (failure.evidence === 'aborted' && earlier && !state.turn.busy) return skipped
  const emitted: Emitted[] = failure.evidence === 'aborted' ? [] : [errorNotice(error)]
  if (thread === state.root && state.turn.pendingTurn !== undefined) emitted.unshift(beginTurn(state))
  // Between two turns there is no turn to end.
  if (thread !== state.root || state.turn.open) thread.failure ??= failure
  // The idle event that would end the turn came before its reason, and no other one follows.
  if (thread !== state.root || !state.turn.open || !state.turn.idleAfterAbort) return held(emitted)
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
export function decodeIdle(state: ServeState, properties: Fields): Decoded {
  const thread = threadOf(state, properties)
  if (!thread) return skipped
  let answers = 0
  for (const message of state.messages.values()) {
    if (message.thread !== thread || message.role !== 'assistant' || message.turn !== state.turn.number)
      continue
    if (!message.done) return nothing
    answers++
  }
  if (thread !== state.root)
    return answers === 0 && !thread.failure ? nothing : emitAll(endChild(state, thread))
  if (!state.turn.open) return nothing
  if (answers > 0 || thread.failure) return emitAll(endTurn(state))
  // Work that had not started at the abort continues.
  if (!state.turn.aborted || !state.turn.busy) {
    state.turn.idleAfterAbort = state.turn.aborted
    return nothing
  }
  const { prompt } = state.turn
  const emitted = endTurn(state)
  state.turn.cutPrompt = prompt
  // As after an abort that is reported as an error: the next prompt may never get a response.
  state.aborting = true
  return emitAll(emitted)
}

function endChild(state: ServeState, thread: SessionThread): Emitted[] {
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

export function decodeTodo(state: ServeState, properties: Fields): Decoded {
  const thread = threadOf(state, properties)
  if (!thread) return skipped
  const parent = thread.speaker === undefined ? {} : { parent: thread.speaker }
  return emit(...announce(state, thread), { type: 'plan.updated', items: planOf(properties), ...parent })
}

export function decodeCompacted(state: ServeState, properties: Fields): Decoded {
  return threadOf(state, properties) === state.root && state.root
    ? emit({ type: 'context.compacted' })
    : nothing
}
