import type { z } from 'zod'
import { MainstemError } from '../model/index.ts'

/** The value as the schema has it, or `invalid_request` naming the field that is wrong. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, whole = 'body'): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const field = [...(issue?.path ?? []), ...unknown].join('.') || whole
  throw new MainstemError('invalid_request', `${field}: ${issue?.message ?? 'not valid'}`, { field })
}
