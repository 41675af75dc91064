// The interface as its document prints it. `AgentEvent` is named there and not printed.
import type { AgentEvent } from '../../src/ues/index.ts'

export type AgentEventType =
  | 'init'
  | 'text'
  | 'text_delta'
  | 'tool_use'
  | 'tool_result'
  | 'thinking'
  | 'error'
  | 'permission_request'
  | 'done'

export interface BaseEvent {
  type: AgentEventType | string // string allows namespaced extensions
  agent: AgentId
  timestamp: number
  sessionId: string
  metadata?: Record<string, unknown> // vendor-specific fields
}

export type AgentId = 'claude-code' | 'codex' | 'gemini' | 'opencode' | string

export interface InitPayload {
  model: string
  cwd: string
  tools: string[]
  capabilities?: Record<string, unknown> // feature discovery
}

export interface ToolUsePayload {
  toolName: string
  toolUseId: string
  input: Record<string, unknown>
  description?: string
}

export interface ToolResultPayload {
  toolUseId: string
  toolName: string
  status: 'success' | 'error' | 'denied'
  output: unknown
  durationMs?: number
}

export interface DonePayload {
  status: 'success' | 'error' | 'interrupted' | 'max_turns' | 'max_budget'
  result?: string
  usage: {
    inputTokens: number
    outputTokens: number
    toolUses: number
    totalCostUsd?: number
  }
  durationMs: number
}

export type PermissionTier = 'dry-run' | 'supervised' | 'autonomous'

export type PermissionMode = 'default' | 'accept_edits' | 'bypass' | 'plan' | 'ask'

export interface AgentAdapter {
  readonly id: AgentId
  readonly name: string

  run(prompt: string, options?: AgentOptions): AsyncGenerator<AgentEvent, void, void>

  isAvailable(): Promise<boolean>
}

export interface AgentOptions {
  cwd?: string
  model?: string
  permissionTier?: PermissionTier
  permissionMode?: PermissionMode
  maxTurns?: number
  maxBudgetUsd?: number
  resume?: string
  abortSignal?: AbortSignal
  allowedTools?: string[] // whitelist: only these tools can be used
  disallowedTools?: string[] // blacklist: these tools cannot be used
  canUseTool?: CanUseTool
}

export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
) => Promise<{ allow: boolean; message?: string }>

export type RunParallel = (
  tasks: Array<{ adapter: AgentAdapter; prompt: string; options?: AgentOptions }>,
) => AsyncGenerator<AgentEvent>
