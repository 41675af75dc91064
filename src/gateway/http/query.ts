import { z } from 'zod'

/** A whole number as a query writes it. It is described as the number that it is, and not as its text. */
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
