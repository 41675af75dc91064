import { ErrorCode, type ErrorInfo } from '../../model/index.ts'
import { type Fields, text } from '../kit/fields.ts'

/** An `error` event. A Mainstem board includes a code; others have only a message. */
export function errorOf(payload: Fields): ErrorInfo {
  const code = ErrorCode.safeParse(payload.code)
  return {
    code: code.success ? code.data : 'unknown',
    message: text(payload, 'message') ?? 'the board reported an error without a message',
  }
}

/** A call that the board rejected. `missing` is the meaning of a 404 for this call. */
export function errorOfAnswer(status: number, body: Fields, missing: ErrorCode): ErrorInfo {
  const detail = text(body, 'detail') ?? text(body, 'message') ?? text(body, 'error') ?? text(body, 'title')
  const answered = status === 0 ? 'the board could not be reached' : `the board returned ${status}`
  return {
    code: status === 404 ? missing : codeOfStatus(status),
    message: detail === undefined ? answered : `${answered}: ${detail}`,
  }
}

function codeOfStatus(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'authentication_failed'
  if (status === 429) return 'rate_limited'
  if (status >= 400 && status < 500) return 'invalid_request'
  // Neither success nor rejection: the peer does not implement this protocol.
  return status === 0 || status >= 500 ? 'connection_failed' : 'protocol_error'
}
