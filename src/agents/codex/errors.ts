import type { ErrorCode, ErrorInfo, Evidence } from '../../model/index.ts'
import { codeOfStatus } from '../../model/outcome/errors.ts'
import type { Emitted, Exit } from '../agent.ts'
import { exitWithoutResult } from '../kit/exit-without-result.ts'
import { compact, type Fields, fields, int, isFields, text } from '../kit/fields.ts'
import { ruleTable } from '../kit/rules.ts'

/** Codex's names for failures; an HTTP status takes precedence. */
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

/** Codex's names for a refusal by the model or its provider. */
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

/** `codex exec` has no error codes: the message is the only evidence. */
export function codeOfText(message: string): ErrorCode {
  const status = statusIn(message)
  if (status !== undefined) return codeOfStatus(status)
  return TEXTS.find(([pattern]) => pattern.test(message))?.[1] ?? 'unknown'
}

/** The exit code for invalid arguments. */
const BAD_ARGUMENTS = 2

/** The process exited without a result. */
export function silence(
  { threadId }: { threadId: string | undefined },
  exit: Exit,
): { evidence: Evidence; error?: ErrorInfo } {
  const codeOf = exit.code === BAD_ARGUMENTS ? () => 'unsupported_option' as const : codeOfText
  return exitWithoutResult(exit, threadId !== undefined, codeOf)
}

function statusIn(message: string): number | undefined {
  const found = /\bstatus:? (\d{3})\b/.exec(message)
  return found ? Number(found[1]) : undefined
}

/** `"usageLimitExceeded"`, or `{"httpConnectionFailed": {"httpStatusCode": 401}}`. */
function readInfo(info: unknown): { name: string | undefined; status: number | undefined } {
  if (typeof info === 'string') return { name: info, status: undefined }
  if (!isFields(info)) return { name: undefined, status: undefined }
  const names = Object.keys(info)
  // An unknown name may still include a status.
  const name = names.find((key) => codeOfWord(key) !== undefined) ?? names[0]
  return { name, status: name === undefined ? undefined : int(fields(info, name), 'httpStatusCode') }
}

/** Why a turn of the app-server failed. */
export function turnError(native: Fields): { error: ErrorInfo; evidence: Evidence } {
  const message = text(native, 'message') ?? 'the turn failed'
  const { name, status } = readInfo(native.codexErrorInfo)
  const code = status === undefined ? (codeOfWord(name) ?? codeOfText(message)) : codeOfStatus(status)
  return {
    error: { code, message, ...(name !== undefined && { native: name }) },
    evidence: name !== undefined && REFUSALS.has(name) ? 'refusal' : 'error',
  }
}

/** Codex retries by itself and reports "Reconnecting... 1/2"; undefined for any other message. */
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
