import type { ApprovalMode as Approval, SandboxMode as Sandbox } from '../dialects/unified/unified-config.ts'

/** The agents that the protocol names. A server may have more. */
export const AgentType = { claude: 'claude', codex: 'codex', gemini: 'gemini' } as const
export type AgentType = (typeof AgentType)[keyof typeof AgentType] | (string & {})

/** The tool calls that need approval. */
export const ApprovalMode = {
  /** Ask before every tool call. */
  ask: 'ask',
  /** Ask before tool calls that may do harm. */
  askDangerous: 'askDangerous',
  /** Change files without asking. */
  autoEdit: 'autoEdit',
  /** Never ask. */
  autoAll: 'autoAll',
} as const satisfies { [Mode in Approval]: Mode }
export type ApprovalMode = Approval

/** The agent's sandbox. */
export const SandboxMode = {
  /** Keep the agent's own default. */
  none: 'none',
  /** Write nothing. */
  readOnly: 'readOnly',
  /** Write only inside the working directory. */
  workspaceWrite: 'workspaceWrite',
  /** Switch the agent's own sandbox off. */
  fullAccess: 'fullAccess',
} as const satisfies { [Mode in Sandbox]: Mode }
export type SandboxMode = Sandbox

/** Settings of a session. The server decides omitted ones. */
export interface SessionConfig {
  /** The id of the agent. */
  agentType?: AgentType
  /** A project id of your own; the server stores it. */
  projectId?: string
  /** The agent's working directory. */
  workingDirectory?: string
  /** The model. */
  model?: string
  /** The tool calls that need approval. */
  approvalMode?: ApprovalMode
  /** The agent's sandbox. */
  sandboxMode?: SandboxMode
  /** Tools that run without asking. */
  allowedTools?: readonly string[]
  /** Tools that never run. */
  blockedTools?: readonly string[]
  /** The most model calls in one turn. */
  maxTurns?: number
}

/** A prompt for an agent. */
export interface AgentRequest {
  /** The id of the agent. */
  agentType: AgentType
  /** The text of the prompt. */
  prompt: string
  /** The session to continue. */
  sessionId?: string
  /** Settings of the session. */
  config?: Omit<SessionConfig, 'agentType'>
}
