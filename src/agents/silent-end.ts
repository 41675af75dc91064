import type { ErrorCode, ErrorInfo, Evidence } from '../model/index.ts'
import type { Exit } from './agent.ts'

/** Failures that can end a conversation that had begun. Other words on stderr need not be the reason for a crash. */
const FATAL: ReadonlySet<ErrorCode> = new Set([
  'authentication_failed',
  'quota_exceeded',
  'rate_limited',
  'connection_failed',
])

/**
 * Judges a process that ended without a result by its standard error. Before the conversation had begun that is a
 * refusal to start; afterwards it is a crash, whose last line may name the reason.
 */
export function silentEnd(
  exit: Exit,
  begun: boolean,
  codeOf: (message: string) => ErrorCode,
): { evidence: Evidence; error?: ErrorInfo } {
  if (exit.error) return { evidence: 'error', error: exit.error }
  const { stderr: message = '' } = exit
  const refused = !begun && exit.code !== undefined && exit.code !== 0
  if (refused && message !== '') return { evidence: 'error', error: { code: codeOf(message), message } }
  const code = codeOf(message.slice(message.lastIndexOf('\n') + 1))
  return FATAL.has(code) ? { evidence: 'none', error: { code, message } } : { evidence: 'none' }
}
