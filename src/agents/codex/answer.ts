import { tryJson } from '../../model/text/json.ts'
import type { TurnVerdict } from '../agent.ts'
import { asText, type Fields, isFields, text } from '../kit/fields.ts'

/** The last message of a turn; also parsed as JSON if structured output was requested. */
export function answerOf(
  answer: string | undefined,
  structured: boolean,
): Pick<TurnVerdict, 'result' | 'structured'> {
  if (answer === undefined) return {}
  const value = structured ? tryJson(answer) : undefined
  return { result: answer, ...(value !== undefined && { structured: value }) }
}

/** The text of an item: a string, or a list of strings or of parts with a text; several are separate paragraphs. */
export function joinedText(value: unknown): string | undefined {
  if (!Array.isArray(value)) return asText(value)
  const parts = value.flatMap((part) => (isFields(part) ? text(part, 'text') : asText(part)) ?? [])
  return parts.length === 0 ? undefined : parts.join('\n\n')
}

/** The text of an answer, in any of its formats. */
export function answerText(item: Fields): string | undefined {
  return joinedText(item.text) ?? joinedText(item.content)
}
