import type { Answers, Question } from '../model/index.ts'
import { compact, type Fields, fields, isFields, list, text, texts } from './fields.ts'

/** The questions of an elicitation form, one for each property of its schema. */
export function formQuestions(params: Fields): Question[] {
  return Object.entries(fields(fields(params, 'requestedSchema'), 'properties')).flatMap(([id, field]) => {
    if (!isFields(field)) return []
    const choices = choicesOf(field)
    return [
      {
        id,
        ...compact({ header: text(field, 'title') }),
        text: text(field, 'description') ?? text(field, 'title') ?? id,
        options: choices.map((label) => ({ label })),
        ...(field.type === 'array' && { multiple: true }),
        ...(choices.length === 0 && { other: true }),
      },
    ]
  })
}

function choicesOf(field: Fields): string[] {
  if (field.type === 'boolean') return ['true', 'false']
  const items = field.type === 'array' ? fields(field, 'items') : field
  const titled = [...list(items, 'oneOf'), ...list(items, 'anyOf')]
  return texts(items, 'enum') ?? titled.flatMap((one) => (isFields(one) ? (text(one, 'const') ?? []) : []))
}

/** Answers as the form wants them: each of the type its field has. */
export function formContent(params: Fields, answers: Answers): Fields {
  const properties = fields(fields(params, 'requestedSchema'), 'properties')
  return Object.fromEntries(
    Object.entries(answers).map(([id, values]) => [id, typed(fields(properties, id), values)]),
  )
}

function typed(field: Fields, values: readonly string[]): unknown {
  const [value = ''] = values
  switch (field.type) {
    case 'array':
      return values
    case 'boolean':
      return value === 'true'
    case 'number':
    case 'integer':
      return Number(value)
    default:
      return value
  }
}
