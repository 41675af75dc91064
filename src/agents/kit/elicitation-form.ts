import type { Answers, Question } from '../../model/index.ts'
import { compact, type Fields, fields, isFields, list, text, texts } from './fields.ts'

/** The questions of an elicitation form, one per property of its schema. */
export function formQuestions(params: Fields): Question[] {
  const properties = Object.entries(fields(fields(params, 'requestedSchema'), 'properties'))
  const bare = properties.filter(([, field]) => isFields(field) && text(field, 'description') === undefined)
  // If only the first field has no description, the message of the form is its question.
  const isAsked = bare.length === 1 && bare[0] === properties[0]
  const message = isAsked ? text(params, 'message') : undefined
  return properties.flatMap(([id, field]) => {
    if (!isFields(field)) return []
    const options = optionsOf(field)
    return [
      {
        id,
        ...compact({ header: text(field, 'title') }),
        text: text(field, 'description') ?? message ?? text(field, 'title') ?? id,
        options,
        ...(field.type === 'array' && { multiple: true }),
        ...(options.length === 0 && { other: true }),
      },
    ]
  })
}

function optionsOf(field: Fields): Question['options'] {
  if (field.type === 'boolean') return [{ label: 'true' }, { label: 'false' }]
  const items = field.type === 'array' ? fields(field, 'items') : field
  const plain = texts(items, 'enum')
  if (plain) return plain.map((label) => ({ label }))
  return [...list(items, 'oneOf'), ...list(items, 'anyOf')].flatMap((one) => {
    const label = isFields(one) ? text(one, 'const') : undefined
    if (!isFields(one) || label === undefined) return []
    // The answer is the constant, so it is the label; a different title becomes the description.
    const title = text(one, 'title')
    const description = text(one, 'description') ?? (title === label ? undefined : title)
    return [{ label, ...compact({ description }) }]
  })
}

/** Converts answers to the types of the form's fields. Drops questions without an answer. */
export function formContent(params: Fields, answers: Answers): Fields {
  const properties = fields(fields(params, 'requestedSchema'), 'properties')
  return Object.fromEntries(
    Object.entries(answers)
      .filter(([, values]) => values.length > 0)
      .map(([id, values]) => [id, typed(fields(properties, id), values)]),
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
