import type { Answers, Question } from '../../../model/index.ts'
import { compact, type Fields, flag, isFields, list, text, texts } from '../../kit/fields.ts'

/** The questions of the model to a person. */
export function userQuestions(params: Fields): Question[] {
  return list(params, 'questions')
    .filter(isFields)
    .map((question) => ({
      id: text(question, 'id') ?? '',
      ...compact({ header: text(question, 'header') }),
      text: text(question, 'question') ?? '',
      options: list(question, 'options')
        .filter(isFields)
        .map((option) => ({
          label: text(option, 'label') ?? '',
          ...compact({ description: text(option, 'description') }),
        })),
      ...(flag(question, 'isOther') && { other: true }),
      ...(flag(question, 'isSecret') && { secret: true }),
    }))
}

/** Converts the answers of a transcript to ours. */
export function readAnswers(native: Fields): Answers {
  const answers: Answers = {}
  for (const [id, value] of Object.entries(native)) {
    const given = isFields(value) ? texts(value, 'answers') : undefined
    answers[id] = given ?? (Array.isArray(value) ? value.map(String) : [String(value)])
  }
  return answers
}
