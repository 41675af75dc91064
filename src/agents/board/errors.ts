import { ErrorCode, type ErrorInfo } from '../../model/index.ts'
import { type Fields, text } from '../fields.ts'

/** An `error` event. A board of this project names a code; others have only words. */
export function errorOf(payload: Fields): ErrorInfo {
  const code = ErrorCode.safeParse(payload.code)
  return {
    code: code.success ? code.data : 'unknown',
    message: text(payload, 'message') ?? 'the board reported an error without a message',
  }
}

/** A call that the board did not take. `missing` is what a 404 means for it. */
export function errorOfAnswer(status: number, body: Fields, missing: ErrorCode): ErrorInfo {
  const words = text(body, 'detail') ?? text(body, 'message') ?? text(body, 'error') ?? text(body, 'title')
  const answered = status === 0 ? 'the board could not be reached' : `the board answered ${status}`
  return {
    code: status === 404 ? missing : codeOfStatus(status),
    message: words === undefined ? answered : `${answered}: ${words}`,
  }
}

function codeOfStatus(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'authentication_failed'
  if (status === 429) return 'rate_limited'
  if (status >= 400 && status < 500) return 'invalid_request'
  // Neither a success nor a refusal: whatever answered does not speak this protocol.
  return status === 0 || status >= 500 ? 'connection_failed' : 'protocol_error'
}
