// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/**
 * Tokens and cost, with the same meaning for every agent. A count that the agent does not report is absent,
 * not 0. The usage of a turn or of a session covers every model call that it caused, those of sub-agents
 * included.
 */
export type Usage = {
  /** Input tokens that were neither read from nor written to a cache. */
  input?: number | undefined
  /** Output tokens, `reasoning` included. */
  output?: number | undefined
  /** Input tokens that were read from a cache. */
  cacheRead?: number | undefined
  /** Input tokens that were written to a cache. */
  cacheWrite?: number | undefined
  /** Output tokens of the reasoning. */
  reasoning?: number | undefined
  /** `input` + `cacheRead` + `cacheWrite` + `output`. */
  total?: number | undefined
  /** The cost in US dollars. */
  costUsd?: number | undefined
  /**
   * True if some model calls are missing, such as those of sub-agents or one that was cut off. Each count is
   * then a minimum.
   */
  partial?: true | undefined
}
