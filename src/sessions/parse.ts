import { MainstemError } from '../model/index.ts'

interface Schema<T> {
  safeParse(
    value: unknown,
  ): { success: true; data: T } | { success: false; error: { issues: readonly Issue[] } }
}

interface Issue {
  path: readonly PropertyKey[]
  message: string
}

/** Validates a value from a caller. Throws `invalid_request` with the path of the first issue. */
export function parse<T>(schema: Schema<T>, value: unknown, name: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const path = [name, ...(issue?.path ?? [])].join('.')
  throw new MainstemError('invalid_request', `${path}: ${issue?.message ?? 'not valid'}`)
}
