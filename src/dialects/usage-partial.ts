import { z } from 'zod'

/** Marks usage counts as minimum figures, in dialects that put the mark next to the counts. */
export const UsagePartial = z
  .literal(true)
  .describe('the agent does not report some model calls, so each count is a minimum')
