import { z } from 'zod'

/** A whole number as a query writes it. */
export function integer(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, 'not a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most))
    .describe(`a number from ${least} to ${most}`)
}

/** `1` or `0`. */
export const Flag = z.enum(['0', '1']).transform((flag) => flag === '1')
