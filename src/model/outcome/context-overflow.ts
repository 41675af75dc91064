import type { ErrorInfo } from './errors.types.ts'

/** The words of model providers, and of the agents that quote them. */
const OVERFLOW = [
  /prompt is too long/i,
  /context[ _](?:length|window)[ _](?:is )?exceeded/i,
  /maximum context length/i,
  /exceed(?:s|ed)? (?:the |its )?(?:model's )?(?:maximum )?context (?:window|length|size|limit)/i,
  /ran out of room in the model's context window/i,
  /input token count.{0,40}exceeds the maximum/i,
]

const NO_COMPACT =
  'The conversation no longer fits the model, and this agent cannot compact it here. Start a new session.'

/** Codes that an agent gives an error without a meaning of its own for this one. */
const VAGUE: ReadonlySet<ErrorInfo['code']> = new Set([
  'unknown',
  'invalid_request',
  'too_large',
  'protocol_error',
])

/**
 * Gives the error of a conversation that no longer fits the model its own code, which names the way out. An agent that
 * cannot `compact` has only one.
 */
export function withContextOverflow(error: ErrorInfo, canCompact = true): ErrorInfo {
  if (!VAGUE.has(error.code) || !OVERFLOW.some((words) => words.test(error.message))) return error
  const { advice: _, ...others } = error
  return { ...others, code: 'context_overflow', ...(!canCompact && { advice: NO_COMPACT }) }
}
