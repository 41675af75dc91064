// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** Marks a usage whose counts are minimums, in dialects that put the mark beside the counts. */
export type UsagePartial = true
