import type { Decoded } from '../../agent.ts'
import { emit, emitAll, nothing, send } from '../../kit/decoded.ts'
import { count, type Fields, fields, text } from '../../kit/fields.ts'
import { failureOfResponse } from './errors.ts'
import { accept } from './inbox.ts'
import { listed, opened, openFailed, probed, removeWaiting } from './opening.ts'
import { applyState } from './recovery.ts'
import type { OpencodeState } from './state.ts'
import { endTurn } from './turn.ts'

/** Decodes an HTTP response: a frame of stream `http` with the value `{ tag, status, body }` of its call. */
export function decodeResponse(state: OpencodeState, native: Fields): Decoded {
  const status = count(native, 'status') ?? 0
  const body = fields(native, 'body')
  const isFailed = status < 200 || status > 299
  const [tag = '', what = '', id = ''] = (text(native, 'tag') ?? '').split(' ')
  switch (tag) {
    case 'info':
    case 'health':
      return probed(state, tag, status, body)
    case 'session':
      return isFailed ? openFailed(state, sessionFailure(status, body)) : opened(state, body)
    case 'agent':
    case 'mcp':
      return text(native, 'tag') === tag && 'data' in body
        ? listed(state, tag, body)
        : refused(isFailed, status, body)
    case 'waiting':
      return isFailed ? nothing : removeWaiting(state, body)
    case 'state':
      // Without its last messages the turn ends with what is known.
      if (isFailed) return what === 'last' ? applyState(state, what, id, {}) : nothing
      return applyState(state, what, id, body)
    case 'prompt':
      return isFailed ? promptFailed(state, status, body) : nothing
    case 'compact':
      return isFailed ? promptFailed(state, status, body) : compacting(state, fields(body, 'data'))
    case 'interrupt':
      state.aborting = false
      if (!isFailed) return nothing
      if (state.turn) state.turn.aborted = false
      return notice('interrupt_refused', status, body)
    // Removing a prompt that the model has read meanwhile changes nothing.
    case 'remove':
      return nothing
    default:
      return refused(isFailed, status, body)
  }
}

/** A response in a recording, which has the path of its call and no tag. */
export function decodeRecorded(state: OpencodeState, native: Fields): Decoded {
  const status = count(native, 'status') ?? 0
  const [, , , id = '', what] = (text(native, 'path') ?? '').split(/[/?]/)
  const body = fields(native, 'body')
  if (status < 200 || status > 299) return nothing
  if (text(native, 'path') === '/api/session') return opened(state, body)
  if (id === 'active') return state.streams > 1 ? applyState(state, id, '', body) : nothing
  if (what === undefined || state.streams < 2) return nothing
  return applyState(state, what, id, body)
}

function sessionFailure(status: number, body: Fields) {
  const failure = failureOfResponse(status, body)
  if (status === 404) failure.error.code = 'session_not_found'
  return failure
}

function promptFailed(state: OpencodeState, status: number, body: Fields): Decoded {
  const { turn } = state
  if (!turn || turn.accepted) return nothing
  return emitAll(endTurn(state, { failure: failureOfResponse(status, body) }))
}

/** The released server may name no item: the event of its inbox does. */
function compacting(state: OpencodeState, item: Fields): Decoded {
  const { turn } = state
  const id = text(item, 'id')
  if (!turn?.compaction || turn.accepted || id === undefined) return nothing
  return send(accept(state, turn, id))
}

function refused(isFailed: boolean, status: number, body: Fields): Decoded {
  return isFailed ? notice('protocol_refused', status, body) : nothing
}

function notice(code: 'interrupt_refused' | 'protocol_refused', status: number, body: Fields): Decoded {
  const { message } = failureOfResponse(status, body).error
  return emit({ type: 'notice.raised', level: 'warning', code, message, data: { status } })
}
