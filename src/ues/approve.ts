import { type AnswerCommand, type RequestKind, toMainstemError } from '../model/index.ts'
import { OWNER } from '../model/owner.ts'
import { checkFields } from '../model/text/known-fields.ts'
import type { CanUseTool, ToolCallInfo } from './adapter.ts'

/** The decision of the callback, or why it has none. */
type Decided =
  | Pick<AnswerCommand, 'decision' | 'scope' | 'message' | 'by' | 'principal' | 'client'>
  | { failure: string }

/** The program that runs the agent answers for its user. */
const AUTHOR = { principal: OWNER, client: 'library' } as const

const FIELDS = ['allow', 'message']

/** Asks the callback. Only `allow: true` allows, and only requests that have a yes-or-no answer. */
export async function decisionOf(
  canUseTool: CanUseTool | undefined,
  kind: RequestKind,
  toolName: string,
  input: Record<string, unknown>,
  call: ToolCallInfo,
): Promise<Decided> {
  const askable = kind === 'permission' || kind === 'plan'
  if (!canUseTool || !askable)
    return { decision: 'deny', message: 'no canUseTool callback can answer this request', by: 'policy' }
  const decide: (...given: [...Parameters<CanUseTool>, ToolCallInfo]) => ReturnType<CanUseTool> = canUseTool
  try {
    return decisionIn(await decide(toolName, input, call))
  } catch (thrown) {
    return { failure: `canUseTool failed: ${toMainstemError(thrown).message}` }
  }
}

/** Validates the answer, because a callback without a compiler may return anything. */
function decisionIn(answer: Awaited<ReturnType<CanUseTool>>): Decided {
  try {
    checkFields(answer, FIELDS, 'answer')
  } catch (thrown) {
    return invalid(toMainstemError(thrown).message)
  }
  const { allow, message } = answer
  if (typeof allow !== 'boolean') return invalid('allow: must be true or false')
  if (message !== undefined && typeof message !== 'string') return invalid('message: must be a string')
  const reason = message !== undefined && { message }
  return allow
    ? { decision: 'allow', scope: 'once', ...reason, ...AUTHOR }
    : { decision: 'deny', message: 'canUseTool denied this call', ...reason, ...AUTHOR }
}

function invalid(why: string): Decided {
  const valid = 'Return { allow: true } or { allow: false, message }.'
  return { failure: `canUseTool returned an invalid answer: ${why}. ${valid}` }
}
