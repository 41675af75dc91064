import * as z from 'zod'

const count = z.int().nonnegative()
const amount = z.number().nonnegative()
const object = z.record(z.string(), z.unknown())
const session_id = z.string()

const Usage = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  output_tokens_details: z.looseObject({ thinking_tokens: count }).nullish(),
})

/** A complete block of a message, or the empty start of a streamed one. */
const Block = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.looseObject({ type: z.literal('redacted_thinking') }),
  z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: object }),
])

const Message = z.looseObject({
  id: z.string(),
  role: z.literal('assistant'),
  model: z.string(),
  content: z.array(Block),
  stop_reason: z.string().nullable(),
  usage: Usage,
})

const Delta = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text_delta'), text: z.string() }),
  z.looseObject({ type: z.literal('thinking_delta'), thinking: z.string() }),
  z.looseObject({ type: z.literal('signature_delta'), signature: z.string() }),
  z.looseObject({ type: z.literal('input_json_delta'), partial_json: z.string() }),
])

const StreamEvent = z.looseObject({
  type: z.literal('stream_event'),
  session_id,
  parent_tool_use_id: z.string().nullable(),
  abandoned_blocks: z.looseObject({ from_block_index: count }).optional(),
  event: z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('message_start'), message: Message }),
    z.looseObject({ type: z.literal('content_block_start'), index: count, content_block: Block }),
    z.looseObject({ type: z.literal('content_block_delta'), index: count, delta: Delta }),
    z.looseObject({ type: z.literal('content_block_stop'), index: count }),
    z.looseObject({ type: z.literal('message_delta'), usage: Usage }),
    z.looseObject({ type: z.literal('message_stop') }),
  ]),
})

const Assistant = z.looseObject({
  type: z.literal('assistant'),
  session_id,
  message: Message,
  parent_tool_use_id: z.string().nullable(),
  aborted: z.boolean().optional(),
  is_api_error_message: z.boolean().optional(),
  api_error_status: z.int().optional(),
  api_error_type: z.string().optional(),
  error: z.string().optional(),
  local_command_source: z.string().optional(),
  local_command_run: z.looseObject({ command: z.string() }).optional(),
  tool_use_meta: z.array(z.looseObject({ id: z.string(), display_name: z.string() })).optional(),
})

const ToolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
  is_error: z.boolean().optional(),
})

const User = z.looseObject({
  type: z.literal('user'),
  session_id,
  message: z.looseObject({
    role: z.literal('user'),
    content: z.union([
      z.string(),
      z.array(
        z.discriminatedUnion('type', [
          z.looseObject({ type: z.literal('text'), text: z.string() }),
          z.looseObject({ type: z.literal('image') }),
          ToolResult,
        ]),
      ),
    ]),
  }),
  parent_tool_use_id: z.string().nullable(),
  refused_message_id: z.string().optional(),
  tool_result_meta: z
    .array(
      z.looseObject({
        id: z.string(),
        non_execution_kind: z.string().optional(),
        permission_decision: z
          .looseObject({ decision: z.enum(['accept', 'reject']), source: z.string() })
          .optional(),
      }),
    )
    .optional(),
})

const hook = { session_id, hook_id: z.string(), hook_name: z.string(), hook_event: z.string() }
const task = { session_id, task_id: z.string(), tool_use_id: z.string() }
const taskUsage = z.looseObject({ total_tokens: count, tool_uses: count, duration_ms: count })
const system = z.literal('system')

const System = z.discriminatedUnion('subtype', [
  z.looseObject({
    type: system,
    subtype: z.literal('init'),
    session_id,
    claude_code_version: z.string(),
    model: z.string(),
    permissionMode: z.string(),
    tools: z.array(z.string()),
    slash_commands: z.array(z.string()),
    mcp_servers: z.array(z.looseObject({ name: z.string(), status: z.string() })),
  }),
  z.looseObject({
    type: system,
    subtype: z.literal('status'),
    session_id,
    status: z.string().nullable(),
    permissionMode: z.string().optional(),
  }),
  z.looseObject({ type: system, subtype: z.literal('hook_started'), ...hook }),
  z.looseObject({
    type: system,
    subtype: z.literal('hook_response'),
    ...hook,
    output: z.string(),
    exit_code: z.int(),
    outcome: z.string(),
  }),
  z.looseObject({
    type: system,
    subtype: z.literal('api_retry'),
    session_id,
    attempt: count,
    max_retries: count,
    retry_delay_ms: amount,
    error_status: z.int().nullable(),
    error: z.string(),
  }),
  z.looseObject({
    type: system,
    subtype: z.literal('task_started'),
    ...task,
    task_type: z.enum(['local_agent', 'local_bash']),
    description: z.string(),
    is_backgrounded: z.boolean(),
    subagent_type: z.string().optional(),
    prompt: z.string().optional(),
  }),
  z.looseObject({
    type: system,
    subtype: z.literal('task_progress'),
    ...task,
    description: z.string(),
    usage: taskUsage,
  }),
  z.looseObject({
    type: system,
    subtype: z.literal('task_notification'),
    ...task,
    status: z.string(),
    summary: z.string(),
    output_file: z.string(),
    usage: taskUsage.optional(),
  }),
  z.looseObject({ type: system, subtype: z.literal('task_updated'), session_id, patch: object }),
  z.looseObject({
    type: system,
    subtype: z.literal('background_tasks_changed'),
    session_id,
    tasks: z.array(object),
  }),
  z.looseObject({
    type: system,
    subtype: z.literal('permission_denied'),
    session_id,
    tool_name: z.string(),
    tool_use_id: z.string(),
    message: z.string(),
    decision_reason: z.string().optional(),
    decision_reason_type: z.string().optional(),
  }),
  z.looseObject({
    type: system,
    subtype: z.literal('informational'),
    session_id,
    content: z.string(),
    level: z.string().optional(),
    prompt_submit_outcome: z.looseObject({ kind: z.string() }).optional(),
  }),
  z.looseObject({ type: system, subtype: z.literal('notification'), session_id, text: z.string() }),
  z.looseObject({
    type: system,
    subtype: z.literal('model_refusal_no_fallback'),
    session_id,
    content: z.string(),
    api_refusal_explanation: z.string().nullable(),
  }),
  z.looseObject({
    type: system,
    subtype: z.literal('compact_boundary'),
    session_id,
    compact_metadata: z.looseObject({ trigger: z.string(), pre_tokens: count }),
  }),
  z.looseObject({ type: system, subtype: z.literal('thinking_tokens'), session_id, estimated_tokens: count }),
  z.looseObject({ type: system, subtype: z.literal('ui_invalidate'), session_id }),
])

const ModelUsage = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  cacheReadInputTokens: count,
  cacheCreationInputTokens: count,
  thinkingTokens: count.optional(),
  costUSD: amount,
  contextWindow: count,
})

const Result = z.looseObject({
  type: z.literal('result'),
  subtype: z.string(),
  session_id,
  is_error: z.boolean(),
  duration_ms: count,
  stop_reason: z.string().nullable(),
  terminal_reason: z.string().optional(),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
  structured_output: z.unknown().optional(),
  api_error_status: z.int().nullish(),
  usage: Usage,
  total_cost_usd: amount,
  modelUsage: z.record(z.string(), ModelUsage),
  model_usage_since_last_result: z.record(z.string(), ModelUsage).optional(),
  permission_denials: z.array(z.looseObject({ tool_name: z.string(), tool_use_id: z.string() })),
})

const ControlRequest = z.looseObject({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.discriminatedUnion('subtype', [
    z.looseObject({
      subtype: z.literal('can_use_tool'),
      tool_name: z.string(),
      tool_use_id: z.string(),
      input: object,
      display_name: z.string().optional(),
      description: z.string().optional(),
      permission_suggestions: z
        .array(z.looseObject({ type: z.string(), destination: z.string() }))
        .optional(),
    }),
    z.looseObject({ subtype: z.literal('hook_callback'), callback_id: z.string(), input: object }),
  ]),
})

const ControlResponse = z.looseObject({
  type: z.literal('control_response'),
  response: z.discriminatedUnion('subtype', [
    z.looseObject({ subtype: z.literal('success'), request_id: z.string(), response: object.optional() }),
    z.looseObject({
      subtype: z.literal('error'),
      request_id: z.string(),
      error: z.string(),
      error_code: z.string().optional(),
    }),
  ]),
})

/** The output of `claude --output-format stream-json`, one object per line. Loose, because new fields are allowed. */
export const Native = z.discriminatedUnion('type', [
  System,
  StreamEvent,
  Assistant,
  User,
  Result,
  ControlRequest,
  ControlResponse,
  z.looseObject({ type: z.literal('control_cancel_request'), request_id: z.string() }),
  z.looseObject({
    type: z.literal('command_lifecycle'),
    command_uuid: z.string(),
    state: z.enum(['queued', 'started', 'completed', 'cancelled']),
  }),
  z.looseObject({
    type: z.literal('tool_progress'),
    tool_use_id: z.string(),
    parent_tool_use_id: z.string().nullable(),
    elapsed_time_seconds: amount,
    subagent_retry: z
      .looseObject({
        attempt: count,
        max_retries: count,
        retry_delay_ms: amount,
        error_status: z.int().nullable(),
        error_category: z.string(),
      })
      .optional(),
  }),
  z.looseObject({ type: z.literal('conversation_reset'), session_id, trigger: z.string() }),
  z.looseObject({
    type: z.literal('rate_limit_event'),
    rate_limit_info: z.looseObject({ status: z.string() }),
  }),
])
