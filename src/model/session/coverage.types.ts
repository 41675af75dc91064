// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** Counts the frames of an agent by verdict. The four verdicts always add up to `frames`. */
export type Coverage = {
  /** All frames. */
  frames: number
  /** Frames that became events, or that carry no information by a listed rule. */
  mapped: number
  /** Frames without a rule, kept as `native.unmapped`. */
  unmapped: number
  /** Frames that could not be parsed. */
  malformed: number
  /** Frames over the size limit, kept as blobs. */
  oversized: number
}
