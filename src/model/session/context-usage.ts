import * as z from 'zod'
import type * as types from './context-usage.types.ts'

/** How full the context window of the agent is. */
export const ContextUsage = z.strictObject({
  used: z.int().nonnegative().optional().describe('Tokens in the context window, as of the last model call.'),
  size: z.int().nonnegative().optional().describe('Tokens that fit in the context window.'),
})
export type ContextUsage = types.ContextUsage
