import { type ErrorInfo, OUTSIDE_ID } from '../../model/index.ts'
import type { Decoded } from '../agent.ts'
import { emit, nothing, send } from '../kit/decoded.ts'
import { count, type Fields, fields, text } from '../kit/fields.ts'
import { cancelCall } from './commands.ts'
import { errorOfAnswer } from './errors.ts'
import { adopt, type BoardCodecState } from './state.ts'

/** Decodes an HTTP response: `{ tag, status, body }`, where status 0 means no response. */
export function decodeAnswer(state: BoardCodecState, native: Fields): Decoded {
  const status = count(native, 'status') ?? 0
  const body = fields(native, 'body')
  const failed = status < 200 || status > 299
  switch (text(native, 'tag')) {
    case 'prompt':
      return failed ? fail(state, errorOfAnswer(status, body, 'invalid_request')) : opened(state, body)
    case 'cancel': {
      if (!failed) return nothing
      const { message } = errorOfAnswer(status, body, 'session_not_found')
      return emit({ type: 'notice.raised', level: 'warning', code: 'interrupt_refused', message })
    }
    case 'state':
      return failed ? fail(state, errorOfAnswer(status, body, 'session_not_found')) : stands(state, body)
    case 'events':
      return failed ? fail(state, errorOfAnswer(status, body, 'session_not_found')) : nothing
    default:
      return nothing
  }
}

function opened(state: BoardCodecState, body: Fields): Decoded {
  const id = text(body, 'id') ?? ''
  // The id becomes part of every later path.
  if (!OUTSIDE_ID.test(id)) {
    return fail(state, { code: 'protocol_error', message: 'the board created a session without a valid id' })
  }
  const emitted = adopt(state, id)
  return state.cancelling && state.session === id ? send([cancelCall(id)], emitted) : send([], emitted)
}

function stands(state: BoardCodecState, body: Fields): Decoded {
  state.standing = text(body, 'state')
  if (state.standing !== undefined) return nothing
  return fail(state, { code: 'protocol_error', message: 'the board did not report the state of the session' })
}

/** Reported at the end of the connection, because more events may follow until then. */
function fail(state: BoardCodecState, error: ErrorInfo): Decoded {
  state.failure ??= { evidence: 'error', error }
  return nothing
}
