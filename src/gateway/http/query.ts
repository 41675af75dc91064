import * as z from 'zod'

/** A whole number in a query string, documented as a number instead of its text. */
export function integer(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, 'not a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most))
    .meta({
      description: `a number from ${least} to ${most}`,
      type: 'integer',
      minimum: least,
      maximum: most,
      pattern: undefined,
    })
}

/** `1` or `0`. */
export const Flag = z.enum(['0', '1']).transform((flag) => flag === '1')
