import type { TurnVerdict } from '../agent.ts'

/** The last message of a turn; also parsed as JSON if structured output was requested. */
export function answerOf(
  answer: string | undefined,
  structured: boolean,
): Pick<TurnVerdict, 'result' | 'structured'> {
  if (answer === undefined) return {}
  const value = structured ? parsed(answer) : undefined
  return { result: answer, ...(value !== undefined && { structured: value }) }
}

function parsed(answer: string): unknown {
  try {
    return JSON.parse(answer)
  } catch {
    return undefined
  }
}
