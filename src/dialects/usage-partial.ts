import { z } from 'zod'

/** The mark of a usage whose counts are minimum figures, in dialects that put it beside the counts. */
export const UsagePartial = z
  .literal(true)
  .describe('model calls are missing that the agent does not report: each count is a minimum')
