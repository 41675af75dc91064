import type { ErrorCode } from './errors.ts'

/** The error code for an HTTP status of a model's API. */
export function codeOfStatus(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'authentication_failed'
  if (status === 429) return 'rate_limited'
  if (status === 400 || status === 404) return 'invalid_request'
  return status >= 500 ? 'connection_failed' : 'unknown'
}
