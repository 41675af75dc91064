import { z } from 'zod'
import { UsagePartial } from './usage-partial.ts'

const tokens = z.int().nonnegative()
const input = z.record(z.string(), z.unknown())

const base = {
  agent: z.string(),
  timestamp: z.int().nonnegative().describe('milliseconds since 1970'),
  sessionId: z.string(),
  metadata: z.record(z.string(), z.unknown()).exactOptional(),
}

function event<const Type extends string, Payload extends z.ZodType>(type: Type, payload: Payload) {
  return z.strictObject({ type: z.literal(type), ...base, payload })
}

const InitPayload = z.strictObject({
  model: z.string().describe('empty when the agent does not report it and none was requested'),
  cwd: z.string(),
  tools: z.array(z.string()),
  capabilities: z.record(z.string(), z.unknown()).exactOptional(),
})
export type InitPayload = z.infer<typeof InitPayload>

const ToolUsePayload = z.strictObject({
  toolName: z.string(),
  toolUseId: z.string(),
  input,
  description: z.string().exactOptional(),
})
export type ToolUsePayload = z.infer<typeof ToolUsePayload>

const ToolResultPayload = z.strictObject({
  toolUseId: z.string(),
  toolName: z.string(),
  status: z.enum(['success', 'error', 'denied']),
  output: z.unknown(),
  durationMs: z.number().nonnegative().exactOptional(),
})
export type ToolResultPayload = z.infer<typeof ToolResultPayload>

const ErrorPayload = z.strictObject({ code: z.string(), message: z.string(), recoverable: z.boolean() })

const PermissionRequestPayload = z.strictObject({
  toolName: z.string(),
  toolUseId: z.string(),
  input,
  reason: z.string().exactOptional(),
})
export type PermissionRequestPayload = z.infer<typeof PermissionRequestPayload>

export const DonePayload = z.strictObject({
  status: z.enum(['success', 'error', 'interrupted', 'max_turns', 'max_budget']),
  result: z.string().exactOptional(),
  usage: z.strictObject({
    inputTokens: tokens.describe('including tokens read from and written to a cache'),
    outputTokens: tokens,
    toolUses: tokens.describe('calls on the main thread'),
    totalCostUsd: z.number().nonnegative().exactOptional(),
    usageReported: z
      .literal(false)
      .exactOptional()
      .describe('the agent reported no tokens; the zeros are not counts'),
    usagePartial: UsagePartial.exactOptional(),
  }),
  durationMs: z.int().nonnegative(),
})
export type DonePayload = z.infer<typeof DonePayload>

/**
 * One of the nine standard types, or a namespaced type (`codex:file_change`). Clients skip types and fields they do not
 * know.
 */
export const AgentEvent = z.union([
  z.discriminatedUnion('type', [
    event('init', InitPayload),
    event('text', z.strictObject({ content: z.string() })),
    event('text_delta', z.strictObject({ delta: z.string() })),
    event('tool_use', ToolUsePayload),
    event('tool_result', ToolResultPayload),
    event('thinking', z.strictObject({ summary: z.string() })),
    event('error', ErrorPayload),
    event('permission_request', PermissionRequestPayload),
    event('done', DonePayload),
  ]),
  z.strictObject({
    type: z.templateLiteral([z.string().min(1), ':', z.string().min(1)]),
    ...base,
    payload: z.record(z.string(), z.unknown()),
  }),
])
export type AgentEvent = z.infer<typeof AgentEvent>

/** The nine standard types, without namespaced types. */
export type AgentEventType = Exclude<AgentEvent['type'], `${string}:${string}`>

/** The fields that all events have in common. */
export type BaseEvent = Pick<AgentEvent, 'type' | 'agent' | 'timestamp' | 'sessionId' | 'metadata'>
