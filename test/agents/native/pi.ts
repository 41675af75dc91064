import * as z from 'zod'

const tokens = z.int().nonnegative()

const Usage = z.looseObject({
  input: tokens,
  output: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  totalTokens: tokens,
  reasoning: tokens.optional(),
  cost: z.looseObject({ total: z.number().nonnegative() }),
})

const Content = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('thinking'), thinking: z.string() }),
  z.looseObject({ type: z.literal('image'), data: z.base64(), mimeType: z.string() }),
  z.looseObject({
    type: z.literal('toolCall'),
    id: z.string(),
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()),
  }),
])

const Message = z.discriminatedUnion('role', [
  z.looseObject({
    role: z.literal('assistant'),
    content: z.array(Content),
    provider: z.string(),
    model: z.string(),
    usage: Usage,
    stopReason: z.enum(['pending', 'stop', 'length', 'toolUse', 'error', 'aborted', 'deferred']),
    responseId: z.string().optional(),
    rawStopReason: z.string().optional(),
    errorMessage: z.string().optional(),
  }),
  z.looseObject({ role: z.literal('user'), content: z.union([z.string(), z.array(Content)]) }),
  z.looseObject({
    role: z.literal('system'),
    toolsAdded: z.array(z.looseObject({ name: z.string() })).optional(),
    toolsRemoved: z.array(z.looseObject({ name: z.string() })).optional(),
  }),
  z.looseObject({
    role: z.literal('toolResult'),
    toolCallId: z.string(),
    content: z.array(Content),
    isError: z.boolean(),
  }),
  z.looseObject({ role: z.literal('custom'), customType: z.string() }),
])

const index = z.int().nonnegative()
const delta = z.string()

const Piece = z.discriminatedUnion('type', [
  z.looseObject({ type: z.enum(['text_start', 'thinking_start']), contentIndex: index }),
  z.looseObject({
    type: z.enum(['text_delta', 'thinking_delta', 'toolcall_delta']),
    contentIndex: index,
    delta,
  }),
  z.looseObject({ type: z.enum(['text_end', 'thinking_end']), contentIndex: index, content: z.string() }),
  z.looseObject({
    type: z.literal('toolcall_start'),
    contentIndex: index,
    id: z.string(),
    toolName: z.string(),
  }),
  z.looseObject({ type: z.literal('toolcall_end'), contentIndex: index, toolCall: Content }),
])

const call = { toolCallId: z.string(), toolName: z.string() }
const Result = z.looseObject({ content: z.array(Content) })
const failure = { attempt: z.int(), maxAttempts: z.int(), delayMs: z.number(), errorMessage: z.string() }

/** The output of `pi --mode json` and `pi --mode rpc`, one object per line. Loose, because new fields are allowed. */
export const Native = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('session'), id: z.uuid(), version: z.int(), cwd: z.string() }),
  z.looseObject({ type: z.literal('response'), command: z.string(), success: z.boolean() }),
  z.looseObject({ type: z.enum(['agent_start', 'turn_start']) }),
  z.looseObject({ type: z.literal('turn_end'), message: Message, toolResults: z.array(Message) }),
  z.looseObject({ type: z.literal('agent_end'), messages: z.array(Message), willRetry: z.boolean() }),
  z.looseObject({ type: z.literal('agent_settled'), aborted: z.boolean() }),
  z.looseObject({ type: z.enum(['message_start', 'message_end']), message: Message }),
  z.looseObject({ type: z.literal('message_update'), usage: Usage, assistantMessageEvent: Piece }),
  z.looseObject({
    type: z.literal('tool_execution_start'),
    ...call,
    args: z.record(z.string(), z.unknown()),
  }),
  z.looseObject({ type: z.literal('tool_execution_update'), ...call, partialResult: Result }),
  z.looseObject({
    type: z.literal('tool_execution_end'),
    ...call,
    result: Result,
    isError: z.boolean(),
    durationMs: z.number().nonnegative().optional(),
  }),
  z.looseObject({
    type: z.literal('queue_update'),
    steering: z.array(z.string()),
    followUp: z.array(z.string()),
  }),
  z.looseObject({ type: z.literal('entry_appended'), entry: z.looseObject({ type: z.string() }) }),
  z.looseObject({ type: z.literal('session_info_changed'), name: z.string().optional() }),
  z.looseObject({ type: z.literal('thinking_level_changed'), level: z.string() }),
  z.looseObject({ type: z.literal('compaction_start'), reason: z.string() }),
  z.looseObject({
    type: z.literal('compaction_end'),
    reason: z.string(),
    result: z.looseObject({ tokensBefore: tokens, estimatedTokensAfter: tokens.optional() }).optional(),
    aborted: z.boolean(),
  }),
  z.looseObject({ type: z.literal('auto_retry_start'), ...failure }),
  z.looseObject({ type: z.literal('auto_retry_end'), success: z.boolean(), attempt: z.int() }),
  z.looseObject({ type: z.literal('extension_ui_request'), id: z.uuid(), method: z.string() }),
  z.looseObject({
    type: z.literal('extension_error'),
    extensionPath: z.string(),
    event: z.string(),
    error: z.string(),
  }),
])
