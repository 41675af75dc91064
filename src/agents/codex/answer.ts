import { tryJson } from '../../model/try-json.ts'
import type { TurnVerdict } from '../agent.ts'

/** The last message of a turn; also parsed as JSON if structured output was requested. */
export function answerOf(
  answer: string | undefined,
  structured: boolean,
): Pick<TurnVerdict, 'result' | 'structured'> {
  if (answer === undefined) return {}
  const value = structured ? tryJson(answer) : undefined
  return { result: answer, ...(value !== undefined && { structured: value }) }
}
