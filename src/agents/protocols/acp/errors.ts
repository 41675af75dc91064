import type { ErrorCode, ErrorInfo } from '../../../model/index.ts'
import { codeOfStatus } from '../../../model/outcome/errors.ts'
import { fields, isFields, number, text } from '../../kit/fields.ts'

const KINDS: ReadonlyMap<string, ErrorCode> = new Map([
  ['authentication_failed', 'authentication_failed'],
  ['billing_error', 'quota_exceeded'],
  ['invalid_request', 'invalid_request'],
  ['max_output_tokens', 'output_truncated'],
  ['rate_limit', 'rate_limited'],
  ['server_error', 'connection_failed'],
])

/** Uses the error code if it is specific; most agents report "internal error" and explain it in the message. */
export function errorOf(native: unknown): ErrorInfo {
  const error = isFields(native) ? native : {}
  const { data } = error
  const details = detailsOf(data)
  const emitted = text(error, 'message') ?? 'an error without a message'
  const message = details === undefined || emitted.includes(details) ? emitted : `${emitted}: ${details}`
  const kind = isFields(data) ? KINDS.get(text(data, 'errorKind') ?? '') : undefined
  const code = kind ?? codeOf(number(error, 'code'), message)
  return { code, message, ...(data !== undefined && data !== null && { native: data }) }
}

function detailsOf(data: unknown): string | undefined {
  if (typeof data === 'string') return data
  if (!isFields(data)) return undefined
  return text(data, 'details') ?? text(data, 'message') ?? text(fields(data, 'error'), 'message')
}

function codeOf(code: number | undefined, message: string): ErrorCode {
  if (code === -32000) return 'authentication_failed'
  if (code === -32002) return 'session_not_found'
  if (code !== undefined && code >= 400 && code < 600) return codeOfAnswer(code, message)
  const fromText = codeOfText(message)
  return fromText === 'unknown' && code === -32602 ? 'invalid_request' : fromText
}

const QUOTA = /quota/i

/** Rate limits and exhausted quotas have the same status. */
function codeOfAnswer(status: number, message: string): ErrorCode {
  return status === 429 && QUOTA.test(message) ? 'quota_exceeded' : codeOfStatus(status)
}

/** Classifies an error by its message. */
export function codeOfText(message: string): ErrorCode {
  if (/session\b.*not found|invalid session identifier|no previous sessions/i.test(message))
    return 'session_not_found'
  const status = /(?:status:?|HTTP|details?:|error:)\s*\(?(\d{3})\b/i.exec(message)
  if (status) return codeOfAnswer(Number(status[1]), message)
  if (/api key|unauthori[sz]ed|authentication|not logged in/i.test(message)) return 'authentication_failed'
  if (QUOTA.test(message)) return 'quota_exceeded'
  if (/rate limit|too many requests/i.test(message)) return 'rate_limited'
  if (/output token maximum/i.test(message)) return 'output_truncated'
  if (/terminated|disconnected|connection|network|socket/i.test(message)) return 'connection_failed'
  return 'unknown'
}
