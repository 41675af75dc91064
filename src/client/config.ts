import type { ApprovalMode as Approval, SandboxMode as Sandbox } from '../dialects/unified-config.ts'

/** The agents that the protocol's document names. A server may have more, by their own names. */
export const AgentType = { claude: 'claude', codex: 'codex', gemini: 'gemini' } as const
export type AgentType = (typeof AgentType)[keyof typeof AgentType] | (string & {})

export const ApprovalMode = {
  /** Ask before every tool. */
  ask: 'ask',
  /** Ask before what may do harm. */
  askDangerous: 'askDangerous',
  /** Change files without asking. */
  autoEdit: 'autoEdit',
  /** Never ask. */
  autoAll: 'autoAll',
} as const satisfies { [Mode in Approval]: Mode }
export type ApprovalMode = Approval

export const SandboxMode = {
  /** Whatever is the agent's own default. */
  none: 'none',
  readOnly: 'readOnly',
  workspaceWrite: 'workspaceWrite',
  /** The agent's own sandbox is off. */
  fullAccess: 'fullAccess',
} as const satisfies { [Mode in Sandbox]: Mode }
export type SandboxMode = Sandbox

/** What a session runs under. What is left out is for the server to decide. */
export interface SessionConfig {
  agentType?: AgentType
  projectId?: string
  workingDirectory?: string
  model?: string
  approvalMode?: ApprovalMode
  sandboxMode?: SandboxMode
  allowedTools?: readonly string[]
  blockedTools?: readonly string[]
  maxTurns?: number
}

/** A prompt for an agent, and the session to go on with if there is one. */
export interface AgentRequest {
  agentType: AgentType
  prompt: string
  sessionId?: string
  config?: Omit<SessionConfig, 'agentType'>
}
