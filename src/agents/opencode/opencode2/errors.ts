import type { ErrorCode, Evidence } from '../../../model/index.ts'
import { codeOfStatus } from '../../../model/outcome/errors.ts'
import { count, type Fields, text } from '../../kit/fields.ts'
import type { Failure } from '../errors.ts'

const CODES: ReadonlyMap<string, ErrorCode> = new Map([
  ['provider.auth', 'authentication_failed'],
  ['provider.rate-limit', 'rate_limited'],
  ['provider.quota', 'quota_exceeded'],
  ['provider.transport', 'connection_failed'],
  ['provider.internal', 'connection_failed'],
  ['provider.invalid-output', 'connection_failed'],
  ['provider.invalid-request', 'invalid_request'],
  ['provider.no-route', 'invalid_request'],
  ['provider.content-filter', 'invalid_request'],
])

/** An error of an execution or a step: `{ type, message, status? }`. */
export function failureOf(native: Fields): Failure {
  const name = text(native, 'type') ?? 'unknown'
  const message = text(native, 'message') ?? name
  return { name, evidence: evidenceOf(name), error: { code: codeOf(name, native, message), message } }
}

function evidenceOf(name: string): Evidence {
  if (name === 'aborted') return 'aborted'
  return name === 'provider.content-filter' ? 'refusal' : 'error'
}

function codeOf(name: string, native: Fields, message: string): ErrorCode {
  const own = CODES.get(name)
  if (own === 'rate_limited' && /quota/i.test(message)) return 'quota_exceeded'
  if (own) return own
  const status = count(native, 'status')
  return status === undefined ? 'unknown' : codeOfStatus(status)
}

/** A failed call to the server itself: `{ _tag, message }`, or an empty body. */
export function failureOfResponse(status: number, body: Fields): Failure {
  const message = text(body, 'message') ?? `the server returned ${status}`
  const name = text(body, '_tag') ?? `HTTP ${status}`
  const code = name === 'SessionNotFoundError' ? 'session_not_found' : codeOfStatus(status)
  return { name, evidence: 'error', error: { code, message } }
}
