import type { StreamEvent } from './daemon-event.ts'
import { QUESTION_TOOL, questionsIn } from './daemon-request.ts'

/**
 * Question calls that will be shown as a question to a person. Calls that do not become one, because no person is
 * available or a policy answers, are shown as tool calls. Undefined once the question was shown.
 */
export type QuestionCalls = Map<string, StreamEvent | undefined>

/** Some agents send the request before they start the call. */
export function holdQuestion(asking: QuestionCalls, toolId: string, input: unknown): void {
  if (asking.has(toolId)) return
  const questions = questionsIn(input)
  asking.set(toolId, {
    type: 'tool_use',
    tool: QUESTION_TOOL,
    ...(questions.length > 0 && { input: questions }),
  })
}

/** Returns the call that a request is about; a request without a tool id is about the first call. */
export function takeAsked(asking: QuestionCalls, toolId = firstOf(asking)): StreamEvent | undefined {
  if (toolId === undefined) return undefined
  const call = asking.get(toolId)
  asking.set(toolId, undefined)
  return call
}

/** Returns the call when it ended without becoming a question. */
export function takeUnasked(asking: QuestionCalls, toolId: string): StreamEvent | undefined {
  const call = asking.get(toolId)
  asking.delete(toolId)
  return call
}

/** Returns all calls that did not become a question when the turn ends. */
export function takeAllUnasked(asking: QuestionCalls): StreamEvent[] {
  const calls = [...asking.values()].filter((call) => call !== undefined)
  asking.clear()
  return calls
}

function firstOf(asking: QuestionCalls): string | undefined {
  for (const [toolId, call] of asking) if (call) return toolId
  return undefined
}
