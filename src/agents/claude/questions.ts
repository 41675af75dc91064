import type { Question } from '../../model/index.ts'
import { compact, flag, isFields, list, text } from '../kit/fields.ts'

/** The tool by which Claude asks a person a question. */
export const QUESTION = 'AskUserQuestion'

/** The questions of a call: `questions`, or a list whose `header` is the question. */
export function questionsOf(input: unknown): Question[] {
  const asked = Array.isArray(input) ? input : isFields(input) ? list(input, 'questions') : []
  return asked.filter(isFields).map((question) => {
    const [header, written] = [text(question, 'header'), text(question, 'question')]
    // Claude identifies answers by the text of the question.
    const id = written ?? header ?? ''
    return {
      id,
      ...(written !== undefined && compact({ header })),
      text: id,
      options: list(question, 'options').map(choiceOf),
      ...(flag(question, 'multiSelect') && { multiple: true }),
      other: true,
    }
  })
}

function choiceOf(option: unknown): Question['options'][number] {
  if (!isFields(option)) return { label: String(option) }
  const [label, description] = [text(option, 'label'), text(option, 'description')]
  return label === undefined ? { label: description ?? '' } : { label, ...compact({ description }) }
}
