// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { UsagePartial } from '../kit/usage-partial.types.ts'

/** The content of an `init` event. */
export type InitPayload = {
  /** The model; empty if the agent does not report it and none was requested. */
  model: string
  /** The agent's working directory. */
  cwd: string
  /** The agent's own names of its tools. */
  tools: string[]
  /** The features of the agent. */
  capabilities?: Record<string, unknown>
}

/** The content of a `text` event. */
export type TextPayload = {
  /** The whole text. */
  content: string
}

/** The content of a `text_delta` event. */
export type TextDeltaPayload = {
  /** The new text only. */
  delta: string
}

/** The content of a `tool_use` event. */
export type ToolUsePayload = {
  /** The agent's own name of the tool. */
  toolName: string
  /** Identifies the tool call. */
  toolUseId: string
  /** The input of the tool call. */
  input: Record<string, unknown>
  /** A one-line summary for people. */
  description?: string
}

/** The content of a `tool_result` event. */
export type ToolResultPayload = {
  /** Identifies the tool call. */
  toolUseId: string
  /** The agent's own name of the tool. */
  toolName: string
  /** How the tool call ended. */
  status: 'success' | 'error' | 'denied'
  /** The output of the tool. */
  output: unknown
  /** The duration in milliseconds. */
  durationMs?: number
}

/** The content of a `thinking` event. */
export type ThinkingPayload = {
  /** The agent's reasoning. */
  summary: string
}

/** The content of an `error` event. */
export type ErrorPayload = {
  /** Identifies the error. */
  code: string
  /** What happened. */
  message: string
  /** True if the run continues. */
  recoverable: boolean
}

/** The content of a `permission_request` event. */
export type PermissionRequestPayload = {
  /** The agent's own name of the tool. */
  toolName: string
  /** Identifies the tool call. */
  toolUseId: string
  /** The input of the tool call. */
  input: Record<string, unknown>
  /** Why the agent asks. */
  reason?: string
}

/** Tokens and cost of a run. */
export type DoneUsage = {
  /** Input tokens, those read from and written to a cache included. */
  inputTokens: number
  /** Output tokens. */
  outputTokens: number
  /** The number of tool calls on the main thread. */
  toolUses: number
  /** The cost in US dollars. */
  totalCostUsd?: number
  /** False if the agent reported no tokens; the zeros are then not counts. */
  usageReported?: false
  /**
   * True if some model calls are missing because the agent does not report them. Each count is then a
   * minimum.
   */
  usagePartial?: UsagePartial
}

/** The content of a `done` event. */
export type DonePayload = {
  /** How the run ended. */
  status: 'success' | 'error' | 'interrupted' | 'max_turns' | 'max_budget'
  /** The final answer. */
  result?: string
  /** Tokens and cost. */
  usage: DoneUsage
  /** The duration in milliseconds. */
  durationMs: number
}

/** The first event of every run. */
export type InitEvent = {
  /** Narrows the union. */
  type: 'init'
  /** The id of the agent. */
  agent: string
  /** Milliseconds since 1970. */
  timestamp: number
  /** The id of the run; pass it as `resume` to continue the conversation. */
  sessionId: string
  /** Fields beyond the common format. */
  metadata?: Record<string, unknown>
  /** The content of the event. */
  payload: InitPayload
}

/** A complete text message of the agent. */
export type TextEvent = {
  /** Narrows the union. */
  type: 'text'
  /** The id of the agent. */
  agent: string
  /** Milliseconds since 1970. */
  timestamp: number
  /** The id of the run; pass it as `resume` to continue the conversation. */
  sessionId: string
  /** Fields beyond the common format. */
  metadata?: Record<string, unknown>
  /** The content of the event. */
  payload: TextPayload
}

/** A piece of text. Append the pieces to get the text so far. */
export type TextDeltaEvent = {
  /** Narrows the union. */
  type: 'text_delta'
  /** The id of the agent. */
  agent: string
  /** Milliseconds since 1970. */
  timestamp: number
  /** The id of the run; pass it as `resume` to continue the conversation. */
  sessionId: string
  /** Fields beyond the common format. */
  metadata?: Record<string, unknown>
  /** The content of the event. */
  payload: TextDeltaPayload
}

/** A tool call with its complete input. */
export type ToolUseEvent = {
  /** Narrows the union. */
  type: 'tool_use'
  /** The id of the agent. */
  agent: string
  /** Milliseconds since 1970. */
  timestamp: number
  /** The id of the run; pass it as `resume` to continue the conversation. */
  sessionId: string
  /** Fields beyond the common format. */
  metadata?: Record<string, unknown>
  /** The content of the event. */
  payload: ToolUsePayload
}

/** The end of a tool call. */
export type ToolResultEvent = {
  /** Narrows the union. */
  type: 'tool_result'
  /** The id of the agent. */
  agent: string
  /** Milliseconds since 1970. */
  timestamp: number
  /** The id of the run; pass it as `resume` to continue the conversation. */
  sessionId: string
  /** Fields beyond the common format. */
  metadata?: Record<string, unknown>
  /** The content of the event. */
  payload: ToolResultPayload
}

/** A piece of the agent's reasoning. */
export type ThinkingEvent = {
  /** Narrows the union. */
  type: 'thinking'
  /** The id of the agent. */
  agent: string
  /** Milliseconds since 1970. */
  timestamp: number
  /** The id of the run; pass it as `resume` to continue the conversation. */
  sessionId: string
  /** Fields beyond the common format. */
  metadata?: Record<string, unknown>
  /** The content of the event. */
  payload: ThinkingPayload
}

/** A failure. A run that fails still ends with `done`. */
export type ErrorEvent = {
  /** Narrows the union. */
  type: 'error'
  /** The id of the agent. */
  agent: string
  /** Milliseconds since 1970. */
  timestamp: number
  /** The id of the run; pass it as `resume` to continue the conversation. */
  sessionId: string
  /** Fields beyond the common format. */
  metadata?: Record<string, unknown>
  /** The content of the event. */
  payload: ErrorPayload
}

/** The agent asks for permission to run a tool. `canUseTool` decides; without it the call is denied. */
export type PermissionRequestEvent = {
  /** Narrows the union. */
  type: 'permission_request'
  /** The id of the agent. */
  agent: string
  /** Milliseconds since 1970. */
  timestamp: number
  /** The id of the run; pass it as `resume` to continue the conversation. */
  sessionId: string
  /** Fields beyond the common format. */
  metadata?: Record<string, unknown>
  /** The content of the event. */
  payload: PermissionRequestPayload
}

/** The last event of every run. */
export type DoneEvent = {
  /** Narrows the union. */
  type: 'done'
  /** The id of the agent. */
  agent: string
  /** Milliseconds since 1970. */
  timestamp: number
  /** The id of the run; pass it as `resume` to continue the conversation. */
  sessionId: string
  /** Fields beyond the common format. */
  metadata?: Record<string, unknown>
  /** The content of the event. */
  payload: DonePayload
}

/** An event that only one agent has, with a namespaced type such as `codex:file_change`. */
export type ExtensionEvent = {
  /** The namespace and the name. */
  type: `${string}:${string}`
  /** The id of the agent. */
  agent: string
  /** Milliseconds since 1970. */
  timestamp: number
  /** The id of the run; pass it as `resume` to continue the conversation. */
  sessionId: string
  /** Fields beyond the common format. */
  metadata?: Record<string, unknown>
  /** The content of the event. */
  payload: Record<string, unknown>
}

/** An event of a run. Switch on `type` to narrow it, and ignore types and fields that you do not know. */
export type AgentEvent =
  | InitEvent
  | TextEvent
  | TextDeltaEvent
  | ToolUseEvent
  | ToolResultEvent
  | ThinkingEvent
  | ErrorEvent
  | PermissionRequestEvent
  | DoneEvent
  | ExtensionEvent
