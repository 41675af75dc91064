import type * as z from 'zod'
import { MainstemError } from '../outcome/mainstem-error.ts'
import { unknownField } from './known-fields.ts'
import { nearest } from './nearest.ts'

/** Validates one field of a request. Throws `invalid_request` naming the field and the path inside it. */
export function parseField<T>(schema: z.ZodType<T>, value: unknown, field: string): T {
  return parse(schema, value, field, [field])
}

/**
 * Validates a document from a caller. Throws `invalid_request` naming the invalid field, or `whole`. `parents` is the
 * path of the document inside the request.
 */
export function parse<T>(
  schema: z.ZodType<T>,
  value: unknown,
  whole = 'body',
  parents: readonly string[] = [],
): T {
  const parsed = schema.safeParse(value, { error: messageOf })
  if (parsed.success) return parsed.data
  const issue = likeliest(parsed.error.issues)
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const field = [...parents, ...(issue?.path ?? []), ...unknown].join('.') || whole
  throw new MainstemError('invalid_request', `${field}: ${issue?.message ?? 'not valid'}`, { field })
}

/** For a union, returns the issue of the variant with the fewest mismatches, which is most likely the intended one. */
function likeliest([first]: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  if (first?.code !== 'invalid_union' || first.path.length > 0) return first
  const [meant] = first.errors.toSorted((one, other) => one.length - other.length)
  return meant?.[0] ?? first
}

/** Names the value and what is expected instead. Undefined for issues whose message by zod is clear. */
function messageOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownField(String(issue.keys[0]), fieldsOf(issue.inst))
    case 'invalid_type':
      return issue.input === undefined
        ? `is required: ${withArticle(issue.expected)}`
        : `must be ${withArticle(issue.expected)}, not ${kindOf(issue.input)}`
    case 'invalid_value':
      return `must be ${anyOf(issue.values)}, not ${shown(issue.input, issue.values)}`
    default:
      return undefined
  }
}

function fieldsOf(schema: unknown): string[] {
  const shape = typeof schema === 'object' && schema !== null && 'shape' in schema ? schema.shape : undefined
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : []
}

const NAMES: Readonly<Record<string, string>> = { record: 'object', int: 'integer', nan: 'NaN' }

function withArticle(expected: string): string {
  const name = NAMES[expected] ?? expected
  return `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`
}

/** Never a text or the content of an object, which may be a secret. */
function kindOf(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'an array'
  return withArticle(typeof value)
}

function anyOf(values: readonly unknown[]): string {
  const words = values.map((value) => JSON.stringify(value))
  return words.length < 2 ? words.join('') : `one of ${words.join(', ')}`
}

/** The longest word of ours; a longer value is none of them misspelled. */
const WORD = 40

function shown(value: unknown, values: readonly unknown[]): string {
  if (value === undefined) return 'missing'
  if (typeof value !== 'string' || value.length > WORD) return kindOf(value)
  const words = values.filter((one) => typeof one === 'string')
  const near = nearest(value, words)
  return `${JSON.stringify(value)}${near === undefined ? '' : `; did you mean "${near}"?`}`
}
