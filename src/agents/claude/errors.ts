import type { ErrorCode } from '../../model/index.ts'
import { codeOfStatus } from '../../model/outcome/errors.ts'

/** Uses the status if there is one, then Claude's error type, then the text. */
export function errorCodeOf(
  status: number | undefined,
  word: string | undefined,
  message: string,
): ErrorCode {
  // An account without credit has the status of an invalid request.
  if (word === 'billing_error') return 'quota_exceeded'
  if (status !== undefined) return codeOfStatus(status)
  if (word === 'authentication_failed' || /not logged in|\/login|invalid api key/i.test(message)) {
    return 'authentication_failed'
  }
  if (word === 'rate_limit') return 'rate_limited'
  if (word === 'server_error') return 'connection_failed'
  if (word === 'max_output_tokens') return 'output_truncated'
  if (word === 'invalid_request' || word === 'model_not_found') return 'invalid_request'
  return codeOfText(message)
}

/** Classifies the text on stderr or in a lone result when no turn started. */
export function codeOfText(message: string): ErrorCode {
  if (/No conversation found/.test(message)) return 'session_not_found'
  if (/not logged in|Please run \/login|invalid api key/i.test(message)) return 'authentication_failed'
  if (/unknown option|requires --|is already in use|cannot be used/i.test(message))
    return 'unsupported_option'
  if (/output token maximum/i.test(message)) return 'output_truncated'
  return 'unknown'
}
