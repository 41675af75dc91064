import type { StreamEvent } from './daemon-event.ts'
import { QUESTION_TOOL, questionsIn } from './daemon-request.ts'

/**
 * Calls that are to become a question to a person. Those that do not, because nobody is there or a policy answers,
 * are told as calls. Undefined once a call was asked.
 */
export type Asking = Map<string, StreamEvent | undefined>

/** Some agents ask before they start the call. */
export function holdQuestion(asking: Asking, toolId: string, input: unknown): void {
  if (asking.has(toolId)) return
  const questions = questionsIn(input)
  asking.set(toolId, {
    type: 'tool_use',
    tool: QUESTION_TOOL,
    ...(questions.length > 0 && { input: questions }),
  })
}

/** The call that a request is about; one that does not name it is about the first. */
export function takeAsked(asking: Asking, toolId = firstOf(asking)): StreamEvent | undefined {
  if (toolId === undefined) return undefined
  const call = asking.get(toolId)
  asking.set(toolId, undefined)
  return call
}

/** The call is over: nobody will ask it any more. */
export function takeUnasked(asking: Asking, toolId: string): StreamEvent | undefined {
  const call = asking.get(toolId)
  asking.delete(toolId)
  return call
}

/** So is the turn. */
export function takeAllUnasked(asking: Asking): StreamEvent[] {
  const calls = [...asking.values()].filter((call) => call !== undefined)
  asking.clear()
  return calls
}

function firstOf(asking: Asking): string | undefined {
  for (const [toolId, call] of asking) if (call) return toolId
  return undefined
}
