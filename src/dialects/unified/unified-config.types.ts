// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** The tool calls that need approval. */
export type ApprovalMode = 'ask' | 'askDangerous' | 'autoEdit' | 'autoAll'

/** The agent's sandbox. */
export type SandboxMode = 'none' | 'readOnly' | 'workspaceWrite' | 'fullAccess'

/** The configuration of a session, as far as it is known. */
export type SessionConfig = {
  /** The id of the agent. */
  agentType: string
  /** The project that the client named. */
  projectId?: string | undefined
  /** The agent's working directory. */
  workingDirectory?: string | undefined
  /** The model. */
  model?: string | undefined
  /** The tool calls that need approval. */
  approvalMode?: ApprovalMode | undefined
  /** The agent's sandbox. */
  sandboxMode?: SandboxMode | undefined
  /** Tools that run without asking. */
  allowedTools?: string[] | undefined
  /** Tools that never run. */
  blockedTools?: string[] | undefined
  /** The most model calls in one turn. */
  maxTurns?: number | undefined
}

/** Token counts of a turn. */
export type TokenUsage = {
  /** Input tokens, cached ones included. */
  inputTokens: number
  /** Output tokens, those of the reasoning included. */
  outputTokens: number
  /** Input tokens that were read from a cache. */
  cachedTokens?: number | undefined
  /** Output tokens of the reasoning. */
  reasoningTokens?: number | undefined
  /** Input and output tokens. */
  totalTokens: number
}
