import * as z from 'zod'

/** Loose schemas of the agents' output: only the fields that rules read are named. */
const Text = z.looseObject({ type: z.literal('text'), text: z.string() })
const Status = z.enum(['pending', 'in_progress', 'completed', 'failed'])

const DiffContent = z.looseObject({
  type: z.literal('diff'),
  path: z.string().optional(),
  oldText: z.string().nullish(),
  newText: z.string().optional(),
  changes: z.array(z.looseObject({ operation: z.string(), path: z.string() })).optional(),
})
const ToolContent = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('content'), content: z.looseObject({ type: z.string() }) }),
  DiffContent,
  z.looseObject({ type: z.literal('terminal'), terminalId: z.string() }),
])

const tool = {
  toolCallId: z.string(),
  name: z.string().optional(),
  title: z.string().optional(),
  kind: z.string().optional(),
  status: Status.optional(),
  content: z.array(ToolContent).optional(),
  locations: z.array(z.looseObject({ path: z.string(), line: z.int().nullish() })).optional(),
}

const chunk = { content: Text, messageId: z.string().optional() }
const PlanEntry = z.looseObject({ content: z.string(), status: z.string(), priority: z.string() })
const Option = z.looseObject({ currentValue: z.union([z.string(), z.boolean()]) })

const Update = z.discriminatedUnion('sessionUpdate', [
  z.looseObject({ sessionUpdate: z.literal('user_message_chunk'), ...chunk }),
  z.looseObject({ sessionUpdate: z.literal('user_message'), messageId: z.string() }),
  z.looseObject({ sessionUpdate: z.literal('agent_message_chunk'), ...chunk }),
  z.looseObject({ sessionUpdate: z.literal('agent_thought_chunk'), ...chunk }),
  z.looseObject({ sessionUpdate: z.literal('tool_call'), ...tool }),
  z.looseObject({ sessionUpdate: z.literal('tool_call_update'), ...tool }),
  z.looseObject({ sessionUpdate: z.literal('plan'), entries: z.array(PlanEntry) }),
  z.looseObject({
    sessionUpdate: z.literal('available_commands_update'),
    availableCommands: z.array(z.looseObject({ name: z.string() })),
  }),
  z.looseObject({ sessionUpdate: z.literal('current_mode_update'), currentModeId: z.string() }),
  z.looseObject({ sessionUpdate: z.literal('config_option_update'), configOptions: z.array(Option) }),
  z.looseObject({ sessionUpdate: z.literal('session_info_update'), title: z.string().optional() }),
  z.looseObject({ sessionUpdate: z.literal('usage_update'), used: z.int(), size: z.int() }),
  z.looseObject({ sessionUpdate: z.literal('notice'), severity: z.string(), title: z.string() }),
  z.looseObject({
    sessionUpdate: z.literal('subagent_update'),
    sessionId: z.string(),
    title: z.string().nullish(),
    description: z.string().nullish(),
    state: z.looseObject({ state: z.string(), stopReason: z.string().nullish() }).nullish(),
  }),
  z.looseObject({
    sessionUpdate: z.literal('session_message'),
    senderSessionId: z.string().nullish(),
    recipientSessionId: z.string().nullish(),
    content: z.array(z.looseObject({ type: z.string() })).nullish(),
  }),
  z.looseObject({ sessionUpdate: z.literal('state_update'), state: z.string() }),
])

const Id = z.union([z.string(), z.number()])
const rpc = { jsonrpc: z.literal('2.0') }

const PermissionOption = z.looseObject({
  optionId: z.string(),
  name: z.string(),
  kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
})

/** A line of the agent's output. */
export const NativeMessage = z.union([
  z.looseObject({
    ...rpc,
    method: z.literal('session/update'),
    params: z.looseObject({ sessionId: z.string(), update: Update }),
  }),
  z.looseObject({
    ...rpc,
    id: Id,
    method: z.literal('session/request_permission'),
    params: z.looseObject({ sessionId: z.string(), options: z.array(PermissionOption) }),
  }),
  z.looseObject({
    ...rpc,
    method: z.string().refine((method) => !method.startsWith('session/'), 'has a shape of its own'),
    params: z.looseObject({}),
  }),
  z.looseObject({ ...rpc, id: Id, result: z.looseObject({}) }),
  z.looseObject({ ...rpc, id: Id, error: z.looseObject({ code: z.int(), message: z.string() }) }),
])
