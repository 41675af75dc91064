// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** How full the context window of the agent is. */
export type ContextUsage = {
  /** Tokens in the context window, as of the last model call. */
  used?: number | undefined
  /** Tokens that fit in the context window. */
  size?: number | undefined
}
