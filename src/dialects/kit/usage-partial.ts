import * as z from 'zod'

/** Marks a usage whose counts are minimums, in dialects that put the mark beside the counts. */
export const UsagePartial = z
  .literal(true)
  .describe(
    'True if some model calls are missing because the agent does not report them. Each count is then a minimum.',
  )
