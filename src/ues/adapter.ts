import type { AgentEvent } from '../dialects/ues-event.ts'

export type AgentId = 'claude-code' | 'codex' | 'gemini' | 'opencode' | string

/** What an agent may do: look only, edit and ask for the rest, or everything. */
export type PermissionTier = 'dry-run' | 'supervised' | 'autonomous'

/** A hint beside the tier; where the two differ, the stricter one holds. */
export type PermissionMode = 'default' | 'accept_edits' | 'bypass' | 'plan' | 'ask'

/** What is known of a call besides its native name and its input. */
export interface ToolCallInfo {
  /** `execute`, `edit`, `mcp:<server>/<tool>` …; the native name for tools that have no canonical one. */
  canonicalName: string
}

/**
 * Decides on one call, by the agent's own name for the tool. A promise that is rejected counts as no. A callback may
 * take a third parameter, `call?: ToolCallInfo`, with the name that is the same on every agent.
 */
export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
) => Promise<{ allow: boolean; message?: string }>

/** Every option is kept to or refused, never ignored. */
export interface AgentOptions {
  /** Where the agent works; here, unless it says otherwise. */
  cwd?: string
  model?: string
  permissionTier?: PermissionTier
  permissionMode?: PermissionMode
  /** Model calls, which is what the agents count as turns. */
  maxTurns?: number
  maxBudgetUsd?: number
  /** The `sessionId` of an earlier run in this process, or the agent's own id; empty for a new conversation. */
  resume?: string
  /** Stops the agent; the stream goes on to its `done`. */
  abortSignal?: AbortSignal
  /** Only these tools exist, by canonical names (`execute`, `edit`, `mcp:docs/search`) or the agent's own. */
  allowedTools?: string[]
  /** These do not, by the same names. */
  disallowedTools?: string[]
  /** Asked for every call that the tier leaves to a person; without it such calls are denied. */
  canUseTool?: CanUseTool
}

export interface AgentAdapter {
  readonly id: AgentId
  readonly name: string

  /**
   * Starts when the first event is asked for. `init` is the first event and `done` the last, each exactly once; what
   * goes wrong is told by an `error` before `done`, never by an exception. Leaving the loop stops the agent.
   */
  run(prompt: string, options?: AgentOptions): AsyncGenerator<AgentEvent, void, void>

  /** Is there a program that could be started? Whether it is logged in is not asked. */
  isAvailable(): Promise<boolean>
}
