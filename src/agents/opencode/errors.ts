import type { ErrorCode, ErrorInfo, Evidence } from '../../model/index.ts'
import { codeOfStatus } from '../../model/outcome/errors.ts'
import type { Emitted } from '../agent.ts'
import { compact, count, type Fields, fields, text } from '../kit/fields.ts'

/** A failed turn, with OpenCode's error name and our code. */
export interface Failure {
  name: string
  evidence: Evidence
  error: ErrorInfo
}

const CODES: ReadonlyMap<string, ErrorCode> = new Map([
  ['ProviderAuthError', 'authentication_failed'],
  ['ProviderModelNotFoundError', 'invalid_request'],
  ['ContextOverflowError', 'invalid_request'],
  ['MessageOutputLengthError', 'output_truncated'],
  ['NotFoundError', 'session_not_found'],
])

export function failureOf(native: Fields): Failure {
  const name = text(native, 'name') ?? 'UnknownError'
  const data = fields(native, 'data')
  const message = text(data, 'message') ?? name
  return { name, evidence: evidenceOf(name, message), error: { code: codeOf(name, data, message), message } }
}

/** The error of an abort before the first model call; the server does not name it. */
const CUT_START = /^All fibers interrupted/

function evidenceOf(name: string, message: string): Evidence {
  if (name === 'MessageAbortedError' || CUT_START.test(message)) return 'aborted'
  return name === 'ContentFilterError' ? 'refusal' : 'error'
}

function codeOf(name: string, data: Fields, message: string): ErrorCode {
  const own = CODES.get(name)
  if (own) return own
  if (name === 'ContentFilterError') return 'invalid_request'
  const status = count(data, 'statusCode')
  if (status !== undefined) return codeOfAnswer(status, message)
  return name === 'APIError' ? 'connection_failed' : 'unknown'
}

function codeOfAnswer(status: number, message: string): ErrorCode {
  return status === 429 && /quota/i.test(message) ? 'quota_exceeded' : codeOfStatus(status)
}

/** A failed call to the server itself. */
export function failureOfAnswer(status: number, body: Fields): Failure {
  if (text(body, 'name') !== undefined) return failureOf(body)
  const message = `the server returned ${status}`
  const error: ErrorInfo = { code: codeOfAnswer(status, message), message }
  return { name: `HTTP ${status}`, evidence: 'error', error }
}

export function errorNotice(native: Fields): Emitted {
  const data = fields(native, 'data')
  return {
    type: 'notice.raised',
    level: 'error',
    code: 'agent_error',
    message: text(data, 'message') ?? text(native, 'name') ?? '',
    data: compact({
      name: text(native, 'name'),
      status: count(data, 'statusCode'),
      body: text(data, 'responseBody'),
      url: text(fields(data, 'metadata'), 'url'),
      ref: text(data, 'ref'),
    }),
  }
}

/** The failure that the finish reason of a model call implies, if any. */
export function failureOfReason(reason: string | undefined): Failure | undefined {
  if (reason === 'length') {
    const error: ErrorInfo = { code: 'output_truncated', message: 'the answer reached the output limit' }
    return { name: reason, evidence: 'error', error }
  }
  if (reason === 'content-filter') {
    const error: ErrorInfo = { code: 'invalid_request', message: 'the provider withheld the answer' }
    return { name: reason, evidence: 'refusal', error }
  }
  if (reason !== 'error') return undefined
  return { name: reason, evidence: 'error', error: { code: 'unknown', message: 'the model call failed' } }
}

/** Returns whether another model call follows this one. */
export function continues(reason: string | undefined): boolean {
  return reason === undefined || reason === 'tool-calls' || reason === 'unknown'
}

/** Classifies the text on stderr when no session was created. */
export function codeOfText(message: string): ErrorCode {
  if (/Session not found/.test(message)) return 'session_not_found'
  if (/Configuration is invalid/.test(message)) return 'agent_not_ready'
  // OpenCode answers an unknown flag with the list of known flags only.
  return /\[(?:boolean|string|array|number)\]/.test(message) ? 'unsupported_option' : 'unknown'
}

/** ANSI colours, which it writes even to a pipe. */
const COLOURS = /\u001b\[[0-9;]*m/g

export function plain(line: string): string {
  return line.replace(COLOURS, '')
}
