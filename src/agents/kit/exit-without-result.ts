import type { ErrorCode, ErrorInfo, Evidence } from '../../model/index.ts'
import type { Exit } from '../agent.ts'

/** Failures that can end a started conversation. Other messages on stderr need not be the cause of a crash. */
const FATAL: ReadonlySet<ErrorCode> = new Set([
  'authentication_failed',
  'quota_exceeded',
  'rate_limited',
  'connection_failed',
])

/**
 * Classifies a process that ended without a result by its standard error. Before the conversation started this is a
 * failed start; afterwards it is a crash, whose last line may contain the reason.
 */
export function exitWithoutResult(
  exit: Exit,
  begun: boolean,
  codeOf: (message: string) => ErrorCode,
): { evidence: Evidence; error?: ErrorInfo } {
  if (exit.error) return { evidence: 'error', error: exit.error }
  const { stderr: message = '' } = exit
  const refused = !begun && exit.code !== undefined && exit.code !== 0
  if (refused && message !== '') return { evidence: 'error', error: failedStart(codeOf(message), message) }
  const code = codeOf(message.slice(message.lastIndexOf('\n') + 1))
  return FATAL.has(code) ? { evidence: 'none', error: { code, message } } : { evidence: 'none' }
}

function failedStart(code: ErrorCode, message: string): ErrorInfo {
  return code === 'unknown' ? { code, message, advice: FAILED_START } : { code, message }
}

const FAILED_START =
  'The agent ended at its start. Run its program in the same directory to see why; `mainstem doctor` checks it.'
