import type { z } from 'zod'
import { MainstemError } from './mainstem-error.ts'

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
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = nearest(parsed.error.issues)
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const field = [...parents, ...(issue?.path ?? []), ...unknown].join('.') || whole
  throw new MainstemError('invalid_request', `${field}: ${issue?.message ?? 'not valid'}`, { field })
}

/** For a union, returns the issues of the variant with the fewest mismatches, which is most likely the intended one. */
function nearest([first]: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  if (first?.code !== 'invalid_union' || first.path.length > 0) return first
  const [meant] = first.errors.toSorted((one, other) => one.length - other.length)
  return meant?.[0] ?? first
}
