import * as z from 'zod'

const ms = z.number().nonnegative()
const anything = z.record(z.string(), z.unknown())
const time = z.looseObject({ start: ms, end: ms.optional() })
const tokens = z.looseObject({
  input: z.int(),
  output: z.int(),
  reasoning: z.int(),
  cache: z.looseObject({ read: z.int(), write: z.int() }),
})

const CallState = z.discriminatedUnion('status', [
  z.looseObject({ status: z.literal('pending'), input: anything }),
  z.looseObject({ status: z.literal('running'), input: anything, time }),
  z.looseObject({
    status: z.literal('completed'),
    input: anything,
    output: z.string(),
    metadata: anything,
    time,
  }),
  z.looseObject({ status: z.literal('error'), input: anything, error: z.string(), time }),
])

const of = { id: z.string(), messageID: z.string(), sessionID: z.string() }
const Part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('step-start'), ...of }),
  z.looseObject({ type: z.literal('step-finish'), ...of, reason: z.string(), cost: z.number(), tokens }),
  z.looseObject({ type: z.literal('text'), ...of, text: z.string(), time: time.optional() }),
  z.looseObject({ type: z.literal('reasoning'), ...of, text: z.string(), time }),
  z.looseObject({ type: z.literal('tool'), ...of, tool: z.string(), callID: z.string(), state: CallState }),
])

const Failure = z.looseObject({ name: z.string(), data: z.looseObject({ message: z.string() }) })

const line = { timestamp: ms, sessionID: z.string() }

/** The output of `opencode run --format json`, one object per line. Loose, because new fields are allowed. */
export const RunNative = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.enum(['step_start', 'text', 'reasoning', 'tool_use', 'step_finish']),
    ...line,
    part: Part,
  }),
  z.looseObject({ type: z.literal('error'), ...line, error: Failure }),
])

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.looseObject({ id: z.string(), type: z.literal(type), properties: z.looseObject(shape) })

const sessionID = z.string()
const info = z.looseObject({
  id: z.string(),
  title: z.string(),
  version: z.string(),
  parentID: z.string().optional(),
})
const tool = z.looseObject({ messageID: z.string(), callID: z.string() })
const todo = z.looseObject({ content: z.string(), status: z.string(), priority: z.string() })
const Message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('user'), id: z.string() }),
  z.looseObject({
    role: z.literal('assistant'),
    id: z.string(),
    time: z.looseObject({ created: ms, completed: ms.optional() }),
    error: Failure.optional(),
  }),
])
const Status = z.discriminatedUnion('type', [
  z.looseObject({ type: z.enum(['busy', 'idle']) }),
  z.looseObject({ type: z.literal('retry'), attempt: z.int(), message: z.string(), next: ms }),
])

/** The `data:` of the events that `opencode serve` streams at `/event`. */
const ServeEvent = z.discriminatedUnion('type', [
  event('server.connected', {}),
  event('server.heartbeat', {}),
  event('plugin.added', { id: z.string() }),
  event('catalog.updated', {}),
  event('reference.updated', {}),
  event('integration.updated', {}),
  event('session.created', { sessionID, info }),
  event('session.updated', { sessionID, info }),
  event('session.status', { sessionID, status: Status }),
  event('session.idle', { sessionID }),
  event('session.error', { sessionID, error: Failure }),
  event('session.diff', { sessionID, diff: z.array(z.unknown()) }),
  event('message.updated', { sessionID, info: Message }),
  event('message.part.updated', { sessionID, part: Part }),
  event('message.part.delta', {
    sessionID,
    messageID: z.string(),
    partID: z.string(),
    field: z.literal('text'),
    delta: z.string(),
  }),
  event('permission.asked', {
    id: z.string(),
    sessionID,
    permission: z.string(),
    patterns: z.array(z.string()),
    always: z.array(z.string()),
    metadata: anything,
    tool,
  }),
  event('permission.replied', {
    sessionID,
    requestID: z.string(),
    reply: z.enum(['once', 'always', 'reject']),
  }),
  event('question.asked', {
    id: z.string(),
    sessionID,
    questions: z.array(
      z.looseObject({ question: z.string(), options: z.array(z.looseObject({ label: z.string() })) }),
    ),
    tool,
  }),
  event('question.replied', { sessionID, requestID: z.string(), answers: z.array(z.array(z.string())) }),
  event('todo.updated', { sessionID, todos: z.array(todo) }),
  event('file.edited', { file: z.string() }),
  event('file.watcher.updated', { file: z.string(), event: z.string() }),
])

/** A recording may end with a note that the connection broke. */
export const ServeNative = z.union([ServeEvent, z.looseObject({ sseError: z.string() })])
