import type { ErrorCode } from '../../model/index.ts'
import { codeOfStatus } from '../../model/outcome/errors.ts'

/** An API failure exits with the HTTP status, of which the system keeps eight bits: 401 becomes 145. */
export function statusOfExit(code: number | undefined): number | undefined {
  return code !== undefined && code >= 144 && code <= 255 ? code + 256 : undefined
}

/** Gemini's exit codes: they are valid without any output and more reliable than messages. */
const EXITS: ReadonlyMap<number, ErrorCode> = new Map([
  [41, 'authentication_failed'],
  [42, 'invalid_request'],
  [44, 'agent_not_ready'],
  [52, 'agent_not_ready'],
  [54, 'tool_execution_failed'],
  [55, 'agent_not_ready'],
])

/** The error code of a failed result: from its exit code, the status of the API, or the message. */
export function codeOfFailure(message: string, exitCode: number | undefined): ErrorCode {
  const own = exitCode === undefined ? undefined : EXITS.get(exitCode)
  if (own) return own
  if (/quota/i.test(message)) return 'quota_exceeded'
  const code = /"code":\s*(\d{3})\b/.exec(message)?.[1]
  const status = code === undefined ? statusOfExit(exitCode) : Number(code)
  if (status !== undefined) return codeOfStatus(status)
  if (/is not found/.test(message)) return 'invalid_request'
  if (/terminated|in JSON|fetch failed|socket|network|ECONN/i.test(message)) return 'connection_failed'
  return 'unknown'
}

/** The error code of a run without a result, from its exit code and stderr. */
export function codeOfExit(exitCode: number, stderr: string): ErrorCode {
  if (exitCode === 42 && /session/i.test(stderr)) {
    return /already exists/.test(stderr) ? 'conflict' : 'session_not_found'
  }
  const own = EXITS.get(exitCode)
  if (own) return own
  const status = statusOfExit(exitCode)
  if (status !== undefined) return codeOfStatus(status)
  // Gemini answers an unknown flag with the list of known flags.
  if (/\[(?:boolean|string|array)\]/.test(stderr)) return 'unsupported_option'
  return /FatalSandboxError/.test(stderr) ? 'agent_not_ready' : 'unknown'
}
