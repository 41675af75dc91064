import * as z from 'zod'
import type * as types from './usage.types.ts'

const tokens = z.int().nonnegative().optional()

/**
 * Tokens and cost, with the same meaning for every agent. A count that the agent does not report is absent, not 0. The
 * usage of a turn or of a session covers every model call that it caused, those of sub-agents included.
 */
export const Usage = z.strictObject({
  input: tokens.describe('Input tokens that were neither read from nor written to a cache.'),
  output: tokens.describe('Output tokens, `reasoning` included.'),
  cacheRead: tokens.describe('Input tokens that were read from a cache.'),
  cacheWrite: tokens.describe('Input tokens that were written to a cache.'),
  reasoning: tokens.describe('Output tokens of the reasoning.'),
  total: tokens.describe('`input` + `cacheRead` + `cacheWrite` + `output`.'),
  costUsd: z.number().nonnegative().optional().describe('The cost in US dollars.'),
  partial: z
    .literal(true)
    .optional()
    .describe(
      'True if some model calls are missing, such as those of sub-agents or one that was cut off. Each count is then a minimum.',
    ),
})
export type Usage = types.Usage
