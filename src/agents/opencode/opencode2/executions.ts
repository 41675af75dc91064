import { epochMs } from '../../../model/text/epoch-ms.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { emit, emitAll, nothing, send } from '../../kit/decoded.ts'
import { compact, count, type Fields, fields, text } from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { settleThread } from '../../kit/settle.ts'
import { finishSubagent } from '../../kit/subagents.ts'
import { modelName } from '../effects.ts'
import { type Failure, failureOfReason } from '../errors.ts'
import { announce } from '../threads.ts'
import { stepUsage } from '../usage.ts'
import { failureOf } from './errors.ts'
import { INTERRUPTED, removeUndelivered } from './inbox.ts'
import type { OpencodeState } from './state.ts'
import { addStep, restart, type Thread } from './thread.ts'
import { beginMissed, endTurn } from './turn.ts'

/** A busy period begins. If the turn already had one, that one was lost with its server. */
export function executionStarted(state: OpencodeState, thread: Thread): Decoded {
  if (thread !== state.root) {
    if (thread.ended) restart(thread)
    return nothing
  }
  const { turn } = state
  const emitted = turn?.delivered && turn.executing ? endTurn(state, { exit: { cause: 'exit' } }) : []
  if (state.turn) {
    state.turn.executing = true
    state.turn.beganAt ??= state.clock
  }
  return emitAll(emitted)
}

/** An execution without our prompt, such as a compaction, does not end the turn. */
export function executionSucceeded(state: OpencodeState, thread: Thread): Decoded {
  if (thread !== state.root) return emitAll(endChild(state, thread))
  const { turn } = state
  return turn?.delivered ? emitAll(end(state, turn.compaction?.failure)) : nothing
}

export function executionFailed(state: OpencodeState, thread: Thread, data: Fields): Decoded {
  const failure = failureOf(fields(data, 'error'))
  if (thread !== state.root) return emitAll(endChild(state, thread, failure))
  const notice = errorNotice(fields(data, 'error'))
  // It may fail before the model reads the prompt, which then stays in the inbox.
  const begun = state.turn || !hasWaiting(state) ? [] : beginMissed(state)
  const { turn } = state
  if (!turn || !(turn.delivered || turn.executing)) return emit(notice)
  const { writes } = turn.delivered ? nothing : removeUndelivered(state)
  return send(writes, [...begun, notice, ...end(state, failure)])
}

function hasWaiting({ inbox }: OpencodeState): boolean {
  return [...inbox.values()].some(({ type, delivered }) => type === 'user' && !delivered)
}

/**
 * The server names `shutdown` both for a denied request, after which it makes no further model call, and for its own
 * end. Only the denial tells them apart.
 */
export function executionInterrupted(state: OpencodeState, thread: Thread, data: Fields): Decoded {
  const isDenial = text(data, 'reason') === 'shutdown' && thread.denied
  if (isDenial) thread.reason = text(data, 'reason')
  const failure = isDenial ? undefined : { ...INTERRUPTED, name: text(data, 'reason') ?? INTERRUPTED.name }
  if (thread !== state.root) return emitAll(endChild(state, thread, failure))
  const { turn } = state
  if (!turn) return nothing
  if (turn.delivered) return emitAll([...unread(state), ...end(state, failure)])
  // Interrupted before the model read the prompt, which stays in the inbox unless it is removed.
  if (!turn.executing && !turn.aborted) return nothing
  const { writes } = turn.aborted ? nothing : removeUndelivered(state)
  return send(writes, end(state, failure))
}

/** Prompts that joined the turn, but too late for the model to read them. */
function unread({ inbox, turn }: OpencodeState): Emitted[] {
  const waiting = [...inbox].filter(
    ([id, item]) => item.type === 'user' && !item.delivered && id !== turn?.promptId,
  )
  return waiting.map(([, { text: prompt }]) => ({
    type: 'notice.raised',
    level: 'warning',
    code: 'agent_warning',
    message: 'a prompt that was sent during the turn was not read before the interrupt',
    data: { prompt },
  }))
}

function end(state: OpencodeState, failure?: Failure): Emitted[] {
  if (state.turn) state.turn.doneAt = state.clock
  return endTurn(state, { failure })
}

function endChild(state: OpencodeState, thread: Thread, failure = failureOfReason(thread.reason)): Emitted[] {
  if (thread.ended) return []
  thread.ended = true
  const status = !failure ? 'success' : failure.evidence === 'aborted' ? 'cancelled' : 'error'
  const usage = thread.stepSeen ? thread.usage : undefined
  const summary = thread.answer
  return [
    ...announce(state, thread),
    ...settleThread(state.ledger, thread.id, status),
    ...finishSubagent(state.ledger, thread.id, { status, ...compact({ summary, usage }) }),
  ]
}

export function stepStarted(state: OpencodeState, thread: Thread, data: Fields): Emitted[] {
  if (thread !== state.root) return announce(state, thread)
  return updateSession(state, { model: modelName(fields(data, 'model')), mode: text(data, 'agent') })
}

export function stepEnded(state: OpencodeState, thread: Thread, data: Fields): Emitted[] {
  thread.reason = text(data, 'finish')
  return reportUsage(state, thread, data)
}

/** A failed step may have used tokens. */
export function stepFailed(state: OpencodeState, thread: Thread, data: Fields): Emitted[] {
  thread.reason = text(data, 'finish')
  return data.tokens === undefined ? [] : reportUsage(state, thread, data)
}

/** The usage of one model call. That of a child also counts for the turn, so that a budget applies immediately. */
function reportUsage(state: OpencodeState, thread: Thread, data: Fields): Emitted[] {
  state.steps.add(text(data, 'assistantMessageID') ?? '')
  const usage = stepUsage(data)
  const { type: _, scope: __, source: ___, ...counts } = usage
  addStep(state, thread, counts)
  return [thread === state.root ? usage : { ...usage, scope: 'subagent', subagentId: thread.id }]
}

/** Attempt 2 is the first retry. */
export function retryScheduled(_: OpencodeState, thread: Thread, data: Fields, created: number): Emitted[] {
  const error = fields(data, 'error')
  const attempt = count(data, 'attempt')
  const at = count(data, 'at')
  const parent = thread.speaker === undefined ? '' : `${thread.label}: `
  return [
    {
      type: 'limit.reported',
      kind: 'retry',
      message: `${parent}${text(error, 'message') ?? ''}`,
      ...compact({
        attempt: attempt === undefined ? undefined : Math.max(0, attempt - 1),
        delayMs: at === undefined ? undefined : Math.max(0, at - created),
        status: count(error, 'status'),
        resetsAt: epochMs(at),
      }),
    },
  ]
}

export function errorNotice(error: Fields): Emitted {
  const name = text(error, 'type')
  return {
    type: 'notice.raised',
    level: 'error',
    code: 'agent_error',
    message: text(error, 'message') ?? name ?? '',
    data: compact({ name, status: count(error, 'status') }),
  }
}
