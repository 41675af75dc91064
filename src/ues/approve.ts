import type { AnswerCommand, RequestKind } from '../model/index.ts'
import type { CanUseTool, ToolCallInfo } from './adapter.ts'

type Answer = Pick<AnswerCommand, 'decision' | 'scope' | 'message' | 'by'>

/** A denial that no person decided. */
export function deny(message: string): Answer {
  return { decision: 'deny', message, by: 'policy' }
}

/** Asks the callback. Only `allow: true` allows, and only requests that have a yes-or-no answer. */
export async function decisionOf(
  canUseTool: CanUseTool | undefined,
  kind: RequestKind,
  toolName: string,
  input: Record<string, unknown>,
  call: ToolCallInfo,
): Promise<Answer> {
  const askable = kind === 'permission' || kind === 'plan'
  if (!canUseTool || !askable) return deny('no canUseTool callback can answer this request')
  const decide: (...given: [...Parameters<CanUseTool>, ToolCallInfo]) => ReturnType<CanUseTool> = canUseTool
  try {
    const { allow, message } = await decide(toolName, input, call)
    const reason = message !== undefined && { message }
    return allow === true
      ? { decision: 'allow', scope: 'once', ...reason }
      : { decision: 'deny', message: 'canUseTool denied this call', ...reason }
  } catch (thrown) {
    return deny(`canUseTool failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
}
