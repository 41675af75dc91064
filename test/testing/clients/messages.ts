import * as z from 'zod'
import { type Client, hear, nothingHeard, schemaOf } from './client.ts'

const Usage = z.strictObject({
  input_tokens: z.int(),
  cache_creation_input_tokens: z.int(),
  cache_read_input_tokens: z.int(),
  output_tokens: z.int(),
})

const Thinking = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: z.string(),
})
const Text = z.strictObject({ type: z.literal('text'), text: z.string() })
const ToolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: z.string().regex(/^toolu_[\w-]+$/),
  name: z.string(),
  input: z.unknown(),
})
const Block = z.discriminatedUnion('type', [Thinking, Text, ToolUse])

const Message = z.strictObject({
  id: z.string().startsWith('msg_'),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.literal('a-model'),
  content: z.array(Block),
  stop_reason: z.string().nullable(),
  stop_sequence: z.null(),
  usage: Usage,
})

const Delta = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('thinking_delta'), thinking: z.string() }),
  z.strictObject({ type: z.literal('signature_delta'), signature: z.string() }),
  z.strictObject({ type: z.literal('text_delta'), text: z.string() }),
  z.strictObject({ type: z.literal('input_json_delta'), partial_json: z.string() }),
])

const Event = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('message_start'), message: Message }),
  z.strictObject({ type: z.literal('ping') }),
  z.strictObject({ type: z.literal('content_block_start'), index: z.int(), content_block: Block }),
  z.strictObject({ type: z.literal('content_block_delta'), index: z.int(), delta: Delta }),
  z.strictObject({ type: z.literal('content_block_stop'), index: z.int() }),
  z.strictObject({
    type: z.literal('message_delta'),
    delta: z.strictObject({ stop_reason: z.string(), stop_sequence: z.null() }),
    usage: Usage,
  }),
  z.strictObject({ type: z.literal('message_stop') }),
])

const Problem = z.strictObject({
  type: z.literal('error'),
  error: z.strictObject({ type: z.string().endsWith('_error'), message: z.string() }),
})

export const messages: Client = {
  name: 'Anthropic Messages',
  path: () => '/v1/messages?beta=true',
  body: (turns, tools, streaming) => ({
    model: 'a-model',
    max_tokens: 100,
    stream: streaming,
    system: 'SCENARIO:refusal is nobody’s wish in here',
    tools: tools.map((tool) => ({ name: tool.name, input_schema: schemaOf(tool) })),
    messages: turns.map(({ role, text }) =>
      role === 'tool'
        ? { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: text }] }
        : { role, content: role === 'user' ? [{ type: 'text', text }] : text },
    ),
  }),
  whole(body) {
    const heard = nothingHeard()
    const message = Message.parse(body)
    for (const block of message.content) {
      if (block.type === 'thinking') heard.thinking += block.thinking
      else if (block.type === 'text') hear(heard, block.text)
      else heard.calls.push({ id: block.id, name: block.name, input: block.input })
    }
    return { ...heard, stop: message.stop_reason ?? '', usage: message.usage }
  },
  stream(stream) {
    const heard = nothingHeard()
    const drafts = new Map<number, string>()
    if (stream.at(-1)?.event !== 'message_stop') throw new TypeError('the stream has no end')
    for (const { event, data } of stream) {
      const message = Event.parse(JSON.parse(data))
      if (message.type !== event) throw new TypeError(`${event} carries ${message.type}`)
      if (message.type === 'content_block_start' && message.content_block.type === 'tool_use') {
        const { id, name } = message.content_block
        heard.calls.push({ id, name, input: undefined })
        drafts.set(message.index, '')
      }
      if (message.type === 'content_block_delta') {
        const { index, delta } = message
        if (delta.type === 'thinking_delta') heard.thinking += delta.thinking
        if (delta.type === 'text_delta') hear(heard, delta.text)
        if (delta.type === 'input_json_delta') drafts.set(index, drafts.get(index) + delta.partial_json)
      }
      if (message.type === 'message_delta') {
        heard.stop = message.delta.stop_reason
        heard.usage = message.usage
      }
    }
    const inputs = [...drafts.values()]
    heard.calls.forEach((call, index) => {
      call.input = JSON.parse(inputs[index] ?? '')
    })
    return heard
  },
  problem: (body) => Problem.parse(body).error.message,
  failure: ({ event, data }) => (event === 'error' ? Problem.parse(JSON.parse(data)).error.message : ''),
  stops: { end: 'end_turn', tools: 'tool_use', length: 'max_tokens', refusal: 'refusal' },
  usage: {
    input_tokens: 70,
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: 0,
    output_tokens: 20,
  },
}
