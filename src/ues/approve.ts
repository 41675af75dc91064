import type { AnswerCommand, RequestKind } from '../model/index.ts'
import type { CanUseTool, ToolCallInfo } from './adapter.ts'

type Answer = Pick<AnswerCommand, 'decision' | 'scope' | 'message' | 'by'>

export function deny(message: string): Answer {
  return { decision: 'deny', message, by: 'policy' }
}

/** What the caller decides. Only a clear yes allows, and only what a yes can answer. */
export async function decisionOf(
  canUseTool: CanUseTool | undefined,
  kind: RequestKind,
  toolName: string,
  input: Record<string, unknown>,
  call: ToolCallInfo,
): Promise<Answer> {
  const askable = kind === 'permission' || kind === 'plan'
  if (!canUseTool || !askable) return deny('nobody is there to answer this')
  const decide: (...given: [...Parameters<CanUseTool>, ToolCallInfo]) => ReturnType<CanUseTool> = canUseTool
  try {
    const { allow, message } = await decide(toolName, input, call)
    const said = message !== undefined && { message }
    return allow === true
      ? { decision: 'allow', scope: 'once', ...said }
      : { decision: 'deny', message: 'this call was refused', ...said }
  } catch (thrown) {
    return deny(`canUseTool failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
}
