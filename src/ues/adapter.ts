import type { AgentEvent } from '../dialects/ues/ues-event.ts'
import type { Image, McpServer } from '../model/index.ts'
import type { AgentId } from './agent-id.types.ts'

/** How much an agent may do: `dry-run` only reads, `supervised` edits and asks for the rest, `autonomous` never asks. */
export type PermissionTier = 'dry-run' | 'supervised' | 'autonomous'

/** Refines the tier. If the two differ, the stricter one applies. */
export type PermissionMode = 'default' | 'accept_edits' | 'bypass' | 'plan' | 'ask'

/** Facts about a tool call besides its native name and its input. */
export interface ToolCallInfo {
  /** `execute`, `edit`, `mcp:<server>/<tool>` …; the native name for tools that have no canonical one. */
  canonicalName: string
  /**
   * What the agent asks for beyond the call, such as `external_directory`, `network` or `write_root`; absent if it is the
   * call alone. Allowing allows this, too.
   */
  permission?: string
  /** What the agent asks for, in words. */
  title?: string
  /** The files and directories that it concerns. */
  locations?: readonly { path: string; line?: number | undefined }[]
  /** How the agent describes the request, if that is not the input: the host, or the directory. */
  data?: unknown
}

/**
 * Decides on one tool call, by the agent's own name of the tool. A rejected promise denies the call. A callback may
 * have a third parameter, `call?: ToolCallInfo`, with the name that is the same for every agent, and with what the agent
 * asks for beyond the call.
 */
export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
) => Promise<{ allow: boolean; message?: string }>

/**
 * Options of a run. An option that the agent cannot enforce is refused, never ignored. The last four are additions to
 * the document.
 */
export interface AgentOptions {
  /** The agent's working directory; the current directory by default. */
  cwd?: string
  /** The model; the agent's own default if omitted. */
  model?: string
  /** How much the agent may do. Without a tier and a mode, every tool call needs approval. */
  permissionTier?: PermissionTier
  /** Refines the tier. */
  permissionMode?: PermissionMode
  /** The most model calls, which agents count as turns. */
  maxTurns?: number
  /** The highest cost in US dollars. */
  maxBudgetUsd?: number
  /** The `sessionId` of an earlier run in this process, or the agent's own id; empty for a new conversation. */
  resume?: string
  /** Stops the agent. The stream still ends with `done`. */
  abortSignal?: AbortSignal
  /** Removes all other tools. Takes canonical names (`execute`, `edit`, `mcp:docs/search`) or the agent's own. */
  allowedTools?: string[]
  /** Removes these tools. Takes the same names. */
  disallowedTools?: string[]
  /** Decides on every tool call that needs approval. Without it, such calls are denied. */
  canUseTool?: CanUseTool
  /** Images for the prompt, in base64. */
  images?: readonly Image[]
  /** The agent's own name of a reasoning effort. */
  effort?: string
  /** A JSON Schema that the final answer must follow. The parsed answer is `metadata.structured` of `done`. */
  outputSchema?: Readonly<Record<string, unknown>>
  /** Model Context Protocol servers by name, in addition to those of the agent's settings. */
  mcpServers?: Readonly<Record<string, McpServer>>
}

/** Runs one agent. */
export interface AgentAdapter {
  /** The id of the agent, as in its events. */
  readonly id: AgentId
  /** The name of the agent for people. */
  readonly name: string

  /**
   * Sends a prompt to the agent and streams its events. The agent starts when the first event is requested. `init` is
   * the first event and `done` the last, each exactly once. A failure is an `error` event before `done`, never an
   * exception. Leaving the loop stops the agent.
   */
  run(prompt: string, options?: AgentOptions): AsyncGenerator<AgentEvent, void, void>

  /** Whether the agent's program is installed and runs. Does not check whether the agent is logged in. */
  isAvailable(): Promise<boolean>
}
