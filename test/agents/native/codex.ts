import * as z from 'zod'

/** Loose schemas of Codex's output, for tests: any other field is allowed. */
const id = z.string()
const word = z.string().nullish()

const changes = z.array(
  z.looseObject({
    path: z.string(),
    kind: z.union([z.enum(['add', 'update', 'delete']), z.looseObject({ type: z.string() })]),
    diff: z.string().optional(),
  }),
)

const mcpCall = {
  server: z.string(),
  tool: z.string(),
  arguments: z.unknown(),
  result: z.looseObject({ content: z.array(z.unknown()) }).nullable(),
  error: z.looseObject({ message: z.string() }).nullable(),
}

const ExecItem = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('agent_message'), id, text: z.string() }),
  z.looseObject({ type: z.literal('reasoning'), id, text: z.string() }),
  z.looseObject({ type: z.literal('error'), id, message: z.string() }),
  z.looseObject({
    type: z.literal('command_execution'),
    id,
    command: z.string(),
    aggregated_output: z.string(),
    exit_code: z.int().nullable(),
    status: z.enum(['in_progress', 'completed', 'failed', 'declined']),
  }),
  z.looseObject({ type: z.literal('file_change'), id, changes, status: z.string() }),
  z.looseObject({ type: z.literal('mcp_tool_call'), id, ...mcpCall, status: z.string() }),
  z.looseObject({ type: z.literal('web_search'), id, query: z.string() }),
  z.looseObject({
    type: z.literal('collab_tool_call'),
    id,
    tool: z.string(),
    receiver_thread_ids: z.array(z.string()),
    prompt: word,
    agents_states: z.record(z.string(), z.looseObject({ status: z.string(), message: word })),
  }),
  z.looseObject({
    type: z.literal('todo_list'),
    id,
    items: z.array(z.looseObject({ text: z.string(), completed: z.boolean() })),
  }),
])

/** A line of `codex exec --json`. */
export const ExecFrame = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('thread.started'), thread_id: z.string() }),
  z.looseObject({ type: z.literal('turn.started') }),
  z.looseObject({ type: z.enum(['item.started', 'item.updated', 'item.completed']), item: ExecItem }),
  z.looseObject({
    type: z.literal('turn.completed'),
    usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
  }),
  z.looseObject({ type: z.literal('turn.failed'), error: z.looseObject({ message: z.string() }) }),
  z.looseObject({ type: z.literal('error'), message: z.string() }),
])

const AppItem = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('userMessage'),
    id,
    content: z.array(z.looseObject({ type: z.string() })),
  }),
  z.looseObject({ type: z.literal('agentMessage'), id, text: z.string(), phase: word }),
  z.looseObject({ type: z.literal('plan'), id, text: z.string() }),
  z.looseObject({
    type: z.literal('reasoning'),
    id,
    summary: z.array(z.string()),
    content: z.array(z.string()),
  }),
  z.looseObject({
    type: z.literal('commandExecution'),
    id,
    command: z.string(),
    cwd: z.string(),
    aggregatedOutput: word,
    exitCode: z.int().nullish(),
    status: z.enum(['inProgress', 'completed', 'failed', 'declined']),
  }),
  z.looseObject({ type: z.literal('fileChange'), id, changes, status: z.string() }),
  z.looseObject({ type: z.literal('mcpToolCall'), id, ...mcpCall, status: z.string() }),
  z.looseObject({ type: z.literal('webSearch'), id, query: z.string() }),
  z.looseObject({
    type: z.literal('collabAgentToolCall'),
    id,
    tool: z.string(),
    receiverThreadIds: z.array(z.string()),
    agentsStates: z.record(z.string(), z.looseObject({ status: z.string(), message: word })),
  }),
  z.looseObject({
    type: z.literal('subAgentActivity'),
    id,
    kind: z.enum(['started', 'interacted', 'interrupted', 'completed']),
    agentThreadId: z.string(),
  }),
  z.looseObject({ type: z.literal('contextCompaction'), id }),
  z.looseObject({ type: z.enum(['enteredReviewMode', 'exitedReviewMode']), id, review: z.string() }),
])

const ofThread = { threadId: z.string() }
const ofTurn = { threadId: z.string(), turnId: z.string() }
const turn = z.looseObject({ id, status: z.enum(['inProgress', 'completed', 'interrupted', 'failed']) })
const tokens = z.looseObject({ totalTokens: z.int(), inputTokens: z.int(), outputTokens: z.int() })

function notification<Method extends string>(method: Method, params: Record<string, z.ZodType>) {
  return z.looseObject({ method: z.literal(method), params: z.looseObject(params) })
}

const Notification = z.discriminatedUnion('method', [
  notification('item/agentMessage/delta', { ...ofTurn, itemId: id, delta: z.string() }),
  notification('item/plan/delta', { ...ofTurn, itemId: id, delta: z.string() }),
  notification('item/reasoning/summaryTextDelta', { ...ofTurn, itemId: id, delta: z.string() }),
  notification('item/reasoning/summaryPartAdded', { ...ofTurn, itemId: id }),
  notification('item/commandExecution/outputDelta', { ...ofTurn, itemId: id, delta: z.string() }),
  notification('item/started', { ...ofTurn, item: AppItem }),
  notification('item/completed', { ...ofTurn, item: AppItem }),
  notification('turn/started', { ...ofThread, turn }),
  notification('turn/completed', { ...ofThread, turn }),
  notification('turn/diff/updated', { ...ofTurn, diff: z.string() }),
  notification('turn/plan/updated', {
    ...ofTurn,
    plan: z.array(
      z.looseObject({ step: z.string(), status: z.enum(['pending', 'inProgress', 'completed']) }),
    ),
  }),
  notification('thread/started', { thread: z.looseObject({ id, cliVersion: z.string() }) }),
  notification('thread/tokenUsage/updated', {
    ...ofTurn,
    tokenUsage: z.looseObject({ total: tokens, last: tokens, modelContextWindow: z.int().nullish() }),
  }),
  notification('thread/settings/updated', {
    ...ofThread,
    threadSettings: z.looseObject({
      model: z.string(),
      collaborationMode: z.looseObject({ mode: z.string() }),
    }),
  }),
  notification('thread/status/changed', ofThread),
  notification('thread/readState/changed', ofThread),
  notification('thread/goal/cleared', ofThread),
  notification('thread/goal/updated', {
    ...ofThread,
    goal: z.looseObject({ objective: z.string(), status: z.string(), tokensUsed: z.int() }),
  }),
  notification('serverRequest/resolved', { ...ofThread, requestId: z.union([z.string(), z.number()]) }),
  notification('account/rateLimits/updated', { rateLimits: z.looseObject({}) }),
  notification('mcpServer/startupStatus/updated', { name: z.string(), status: z.string() }),
  notification('remoteControl/status/changed', {}),
  notification('error', { ...ofTurn, error: z.looseObject({ message: z.string() }), willRetry: z.boolean() }),
  notification('warning', { message: z.string() }),
  notification('configWarning', { summary: z.string() }),
  notification('deprecationNotice', { summary: z.string() }),
])

const rpcId = z.union([z.string(), z.number()])

const Request = z.looseObject({
  id: rpcId,
  method: z.enum([
    'item/commandExecution/requestApproval',
    'item/fileChange/requestApproval',
    'item/tool/requestUserInput',
    'mcpServer/elicitation/request',
  ]),
  params: z.looseObject(ofThread),
})

const Response = z.union([
  z.looseObject({ id: rpcId, result: z.looseObject({}) }),
  z.looseObject({ id: rpcId, error: z.looseObject({ code: z.int(), message: z.string() }) }),
])

/** A line of `codex app-server`: JSON-RPC without `jsonrpc`. */
export const AppServerFrame = z.union([Request, Notification, Response])
