import { OUTSIDE_ID } from '../../../model/index.ts'
import type { Decoded } from '../../agent.ts'
import { emit, emitAll, nothing, send, skipped } from '../../kit/decoded.ts'
import { count, type Fields, fields, text } from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { factsOf } from '../effects.ts'
import { failureOfAnswer } from '../errors.ts'
import { prompt } from './commands.ts'
import { applyState } from './recovery.ts'
import type { ServeState } from './state.ts'
import { adoptRoot } from './state.ts'
import { endTurn } from './turn.ts'

/** Decodes an HTTP response: a frame of stream `http` with the value `{ tag, status, body }` of its call. */
export function decodeAnswer(state: ServeState, native: Fields): Decoded {
  const status = count(native, 'status') ?? 0
  const body = fields(native, 'body')
  const failed = status < 200 || status > 299
  const [tag] = (text(native, 'tag') ?? '').split(' ')
  switch (tag) {
    case 'session':
      return failed ? openFailed(state, status, body) : opened(state, body)
    case 'prompt':
    case 'compact':
      if (!failed || !state.root || !state.turn.open) return nothing
      state.root.failure ??= failureOfAnswer(status, body)
      return emitAll(endTurn(state))
    case 'abort':
      state.aborting = false
      if (!failed) return nothing
      state.turn.aborted = false
      return notice('interrupt_refused', status, body)
    case 'state':
      // Most of a stored state was reported before, or is reported later.
      return failed ? skipped : { ...applyState(state, native), skipped: true }
    case 'steer':
    case 'answer':
      return failed ? notice('protocol_refused', status, body) : nothing
    default:
      return nothing
  }
}

function opened(state: ServeState, body: Fields): Decoded {
  if (state.root) return nothing
  const id = text(body, 'id') ?? ''
  // The id becomes part of every later path.
  if (!OUTSIDE_ID.test(id)) return openFailed(state, 502, body)
  const emitted = [...updateSession(state, factsOf(id, body))]
  const root = adoptRoot(state, id)
  state.clock = Math.max(state.clock, count(fields(body, 'time'), 'updated') ?? 0)
  const waiting = state.waiting
  if (!waiting) return emitAll(emitted)
  state.waiting = undefined
  // The turn is already open; the call must not see it as open.
  state.turn.open = false
  const { writes, refused } = prompt(state, waiting)
  if (!refused) return send(writes, emitted)
  root.failure = { name: refused.code, evidence: 'error', error: refused }
  state.turn.open = true
  return send([], [...emitted, ...endTurn(state)])
}

function openFailed(state: ServeState, status: number, body: Fields): Decoded {
  state.openFailure = failureOfAnswer(status, body)
  if (status === 404) state.openFailure.error.code = 'session_not_found'
  state.waiting = undefined
  return state.turn.open ? emitAll(endTurn(state)) : nothing
}

function notice(code: 'interrupt_refused' | 'protocol_refused', status: number, body: Fields): Decoded {
  const { message } = failureOfAnswer(status, body).error
  return emit({ type: 'notice.raised', level: 'warning', code, message, data: { status } })
}
