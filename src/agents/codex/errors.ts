import { codeOfStatus } from '../../model/http-status.ts'
import type { ErrorCode, ErrorInfo, Evidence } from '../../model/index.ts'
import type { Emitted, Exit } from '../agent.ts'
import { compact, type Fields, fields, int, isFields, text } from '../fields.ts'
import { ruleTable } from '../rules.ts'
import { silentEnd } from '../silent-end.ts'

/** What Codex calls a failure; where it knows an HTTP status, that decides. */
const codeOfWord = ruleTable<ErrorCode>({
  usageLimitExceeded: 'quota_exceeded',
  sessionBudgetExceeded: 'quota_exceeded',
  rateLimitExceeded: 'rate_limited',
  unauthorized: 'authentication_failed',
  badRequest: 'invalid_request',
  modelNotFound: 'invalid_request',
  contextWindowExceeded: 'invalid_request',
  cyberPolicy: 'invalid_request',
  misalignmentPolicyViolation: 'invalid_request',
  tooManyDenials: 'permission_denied',
  sandboxError: 'tool_execution_failed',
  internalServerError: 'connection_failed',
  serverOverloaded: 'connection_failed',
  httpConnectionFailed: 'connection_failed',
  responseStreamConnectionFailed: 'connection_failed',
  responseStreamDisconnected: 'connection_failed',
  responseTooManyFailedAttempts: 'connection_failed',
})

/** Words of Codex for "the model, or who runs it, will not do this". */
const REFUSALS: ReadonlySet<string> = new Set(['cyberPolicy', 'misalignmentPolicyViolation'])

const TEXTS: readonly (readonly [RegExp, ErrorCode])[] = [
  [/no rollout found|invalid (session|thread) id|thread not found/i, 'session_not_found'],
  [/unexpected argument|invalid value .* for/i, 'unsupported_option'],
  [/quota exceeded|usage limit/i, 'quota_exceeded'],
  [/max_output_tokens/, 'output_truncated'],
  [
    /missing environment variable|not logged in|incorrect api key|token could not be refreshed/i,
    'authentication_failed',
  ],
  [/invalid_request_error|does not exist|no prompt provided|context window/i, 'invalid_request'],
  [/rate limit (exceeded|reached)/i, 'rate_limited'],
  [/stream disconnected|high demand|at capacity|error sending request/i, 'connection_failed'],
  [/connection failed|reading the server response|request timed out/i, 'connection_failed'],
]

/** `codex exec` has no error codes: the message is all there is. */
export function codeOfText(message: string): ErrorCode {
  const status = statusIn(message)
  if (status !== undefined) return codeOfStatus(status)
  return TEXTS.find(([pattern]) => pattern.test(message))?.[1] ?? 'unknown'
}

/** How it refuses arguments, whatever it says about them. */
const BAD_ARGUMENTS = 2

/** The process ended without a result. */
export function silence(
  { threadId }: { threadId: string | undefined },
  exit: Exit,
): { evidence: Evidence; error?: ErrorInfo } {
  const codeOf = exit.code === BAD_ARGUMENTS ? () => 'unsupported_option' as const : codeOfText
  return silentEnd(exit, threadId !== undefined, codeOf)
}

function statusIn(message: string): number | undefined {
  const found = /\bstatus:? (\d{3})\b/.exec(message)
  return found ? Number(found[1]) : undefined
}

/** `"usageLimitExceeded"`, or `{"httpConnectionFailed": {"httpStatusCode": 401}}`. */
function readInfo(info: unknown): { word: string | undefined; status: number | undefined } {
  if (typeof info === 'string') return { word: info, status: undefined }
  if (!isFields(info)) return { word: undefined, status: undefined }
  const words = Object.keys(info)
  // One that is new may still tell its status.
  const word = words.find((key) => codeOfWord(key) !== undefined) ?? words[0]
  return { word, status: word === undefined ? undefined : int(fields(info, word), 'httpStatusCode') }
}

/** Why a turn of the app-server failed. */
export function turnError(native: Fields): { error: ErrorInfo; evidence: Evidence } {
  const message = text(native, 'message') ?? 'the turn failed'
  const { word, status } = readInfo(native.codexErrorInfo)
  const code = status === undefined ? (codeOfWord(word) ?? codeOfText(message)) : codeOfStatus(status)
  return {
    error: { code, message, ...(word !== undefined && { native: word }) },
    evidence: word !== undefined && REFUSALS.has(word) ? 'refusal' : 'error',
  }
}

/** Codex tries again by itself and says "Reconnecting... 1/2"; nothing for any other message. */
export function retryOf(message: string, info?: unknown): Emitted | undefined {
  const found = /^Reconnecting\.\.\. (\d+)\/(\d+)/.exec(message)
  if (!found) return undefined
  return {
    type: 'limit.reported',
    kind: 'retry',
    attempt: Number(found[1]),
    of: Number(found[2]),
    ...compact({ status: readInfo(info).status ?? statusIn(message) }),
    message,
  }
}
