import * as z from 'zod'
import { UsagePartial } from '../kit/usage-partial.ts'
import type * as types from './ues-event.types.ts'

const tokens = z.int().nonnegative()
const input = z.record(z.string(), z.unknown())
const toolName = z.string().describe("The agent's own name of the tool.")
const toolUseId = z.string().describe('Identifies the tool call.')

const base = {
  agent: z.string().describe('The id of the agent.'),
  timestamp: z.int().nonnegative().describe('Milliseconds since 1970.'),
  sessionId: z.string().describe('The id of the run; pass it as `resume` to continue the conversation.'),
  metadata: z.record(z.string(), z.unknown()).exactOptional().describe('Fields beyond the common format.'),
}

function event<const Type extends string, Payload extends z.ZodType>(type: Type, payload: Payload) {
  return z.strictObject({
    type: z.literal(type),
    ...base,
    payload: payload.describe('The content of the event.'),
  })
}

/** The content of an `init` event. */
export const InitPayload = z.strictObject({
  model: z.string().describe('The model; empty if the agent does not report it and none was requested.'),
  cwd: z.string().describe("The agent's working directory."),
  tools: z.array(z.string()).describe("The agent's own names of its tools."),
  capabilities: z.record(z.string(), z.unknown()).exactOptional().describe('The features of the agent.'),
})
export type InitPayload = types.InitPayload

/** The content of a `text` event. */
export const TextPayload = z.strictObject({ content: z.string().describe('The whole text.') })

/** The content of a `text_delta` event. */
export const TextDeltaPayload = z.strictObject({ delta: z.string().describe('The new text only.') })

/** The content of a `tool_use` event. */
export const ToolUsePayload = z.strictObject({
  toolName,
  toolUseId,
  input: input.describe('The input of the tool call.'),
  description: z.string().exactOptional().describe('A one-line summary for people.'),
})
export type ToolUsePayload = types.ToolUsePayload

/** The content of a `tool_result` event. */
export const ToolResultPayload = z.strictObject({
  toolUseId,
  toolName,
  status: z.enum(['success', 'error', 'denied']).describe('How the tool call ended.'),
  output: z.unknown().describe('The output of the tool.'),
  durationMs: z.number().nonnegative().exactOptional().describe('The duration in milliseconds.'),
})
export type ToolResultPayload = types.ToolResultPayload

/** The content of a `thinking` event. */
export const ThinkingPayload = z.strictObject({ summary: z.string().describe("The agent's reasoning.") })

/** The content of an `error` event. */
export const ErrorPayload = z.strictObject({
  code: z.string().describe('Identifies the error.'),
  message: z.string().describe('What happened.'),
  recoverable: z.boolean().describe('True if the run continues.'),
})

/** The content of a `permission_request` event. */
export const PermissionRequestPayload = z.strictObject({
  toolName,
  toolUseId,
  input: input.describe('The input of the tool call.'),
  reason: z.string().exactOptional().describe('Why the agent asks.'),
})
export type PermissionRequestPayload = types.PermissionRequestPayload

/** Tokens and cost of a run. */
export const DoneUsage = z.strictObject({
  inputTokens: tokens.describe('Input tokens, those read from and written to a cache included.'),
  outputTokens: tokens.describe('Output tokens.'),
  toolUses: tokens.describe('The number of tool calls on the main thread.'),
  totalCostUsd: z.number().nonnegative().exactOptional().describe('The cost in US dollars.'),
  usageReported: z
    .literal(false)
    .exactOptional()
    .describe('False if the agent reported no tokens; the zeros are then not counts.'),
  usagePartial: UsagePartial.exactOptional(),
})

/** The content of a `done` event. */
export const DonePayload = z.strictObject({
  status: z
    .enum(['success', 'error', 'interrupted', 'max_turns', 'max_budget'])
    .describe('How the run ended.'),
  result: z.string().exactOptional().describe('The final answer.'),
  usage: DoneUsage.describe('Tokens and cost.'),
  durationMs: z.int().nonnegative().describe('The duration in milliseconds.'),
})
export type DonePayload = types.DonePayload

/** The first event of every run. */
export const InitEvent = event('init', InitPayload)
/** A complete text message of the agent. */
export const TextEvent = event('text', TextPayload)
/** A piece of text. Append the pieces to get the text so far. */
export const TextDeltaEvent = event('text_delta', TextDeltaPayload)
/** A tool call with its complete input. */
export const ToolUseEvent = event('tool_use', ToolUsePayload)
/** The end of a tool call. */
export const ToolResultEvent = event('tool_result', ToolResultPayload)
/** A piece of the agent's reasoning. */
export const ThinkingEvent = event('thinking', ThinkingPayload)
/** A failure. A run that fails still ends with `done`. */
export const ErrorEvent = event('error', ErrorPayload)
/** The agent asks for permission to run a tool. `canUseTool` decides; without it the call is denied. */
export const PermissionRequestEvent = event('permission_request', PermissionRequestPayload)
/** The last event of every run. */
export const DoneEvent = event('done', DonePayload)

/** An event that only one agent has, with a namespaced type such as `codex:file_change`. */
export const ExtensionEvent = z.strictObject({
  type: z
    .templateLiteral([z.string().min(1), ':', z.string().min(1)])
    .describe('The namespace and the name.'),
  ...base,
  payload: z.record(z.string(), z.unknown()).describe('The content of the event.'),
})

/** An event of a run. Switch on `type` to narrow it, and ignore types and fields that you do not know. */
export const AgentEvent = z.union([
  z.discriminatedUnion('type', [
    InitEvent,
    TextEvent,
    TextDeltaEvent,
    ToolUseEvent,
    ToolResultEvent,
    ThinkingEvent,
    ErrorEvent,
    PermissionRequestEvent,
    DoneEvent,
  ]),
  ExtensionEvent,
])
export type AgentEvent = types.AgentEvent

/** The types of the nine common events. Namespaced types come in addition. */
export type AgentEventType = Exclude<AgentEvent['type'], `${string}:${string}`>

/** The fields that all events have. Adapters of others may have types of their own. */
export interface BaseEvent extends Pick<AgentEvent, 'agent' | 'timestamp' | 'sessionId' | 'metadata'> {
  /** Editors complete the common types; any string is assignable. */
  type: AgentEventType | (string & {})
}
