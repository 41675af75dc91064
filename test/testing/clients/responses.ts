import * as z from 'zod'
import { type Client, hear, nothingHeard, schemaOf } from './client.ts'
import { OpenaiProblem } from './openai-problem.ts'

const Summary = z.strictObject({ type: z.literal('summary_text'), text: z.string() })
const Part = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.never()),
})
const Status = z.enum(['in_progress', 'completed', 'incomplete', 'failed'])

const Item = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('reasoning'),
    id: z.string(),
    status: Status.optional(),
    summary: z.array(Summary),
    encrypted_content: z.string(),
  }),
  z.strictObject({
    type: z.literal('message'),
    id: z.string(),
    status: Status,
    role: z.literal('assistant'),
    content: z.array(Part),
  }),
  z.strictObject({
    type: z.literal('function_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    namespace: z.string().optional(),
    arguments: z.string(),
    status: Status,
  }),
  z.strictObject({
    type: z.literal('custom_tool_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    input: z.string(),
    status: Status,
  }),
])

const Usage = z.strictObject({
  input_tokens: z.int(),
  input_tokens_details: z.strictObject({ cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.strictObject({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
})

const Response = z.strictObject({
  id: z.string().startsWith('resp_'),
  object: z.literal('response'),
  created_at: z.int(),
  status: Status,
  model: z.literal('a-model'),
  output: z.array(Item),
  incomplete_details: z.strictObject({ reason: z.string() }).nullable(),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  usage: Usage.nullable(),
})

const order = { sequence_number: z.int() }
const place = { ...order, item_id: z.string(), output_index: z.int() }
const inText = { ...place, content_index: z.int() }
const inSummary = { ...place, summary_index: z.int() }
const told = <Type extends string, Rest extends z.core.$ZodLooseShape>(type: Type, rest: Rest) =>
  z.strictObject({ type: z.literal(type), ...rest })

const Event = z.discriminatedUnion('type', [
  told('response.created', { ...order, response: Response }),
  told('response.in_progress', { ...order, response: Response }),
  told('response.output_item.added', { ...order, output_index: z.int(), item: Item }),
  told('response.output_item.done', { ...order, output_index: z.int(), item: Item }),
  told('response.content_part.added', { ...inText, part: Part }),
  told('response.content_part.done', { ...inText, part: Part }),
  told('response.output_text.delta', { ...inText, delta: z.string() }),
  told('response.output_text.done', { ...inText, text: z.string() }),
  told('response.reasoning_summary_part.added', { ...inSummary, part: Summary }),
  told('response.reasoning_summary_part.done', { ...inSummary, part: Summary }),
  told('response.reasoning_summary_text.delta', { ...inSummary, delta: z.string() }),
  told('response.reasoning_summary_text.done', { ...inSummary, text: z.string() }),
  told('response.function_call_arguments.delta', { ...place, delta: z.string() }),
  told('response.function_call_arguments.done', { ...place, arguments: z.string() }),
  told('response.custom_tool_call_input.delta', { ...place, delta: z.string() }),
  told('response.custom_tool_call_input.done', { ...place, input: z.string() }),
  told('response.completed', { ...order, response: Response }),
  told('response.incomplete', { ...order, response: Response }),
])

const Failed = z.object({ type: z.literal('response.failed'), response: Response })

export const responses: Client = {
  name: 'OpenAI Responses',
  path: () => '/v1/responses',
  body: (turns, tools, streaming) => ({
    model: 'a-model',
    stream: streaming,
    tools: tools.map((tool) => ({ type: 'function', name: tool.name, parameters: schemaOf(tool) })),
    input: [
      { type: 'message', role: 'developer', content: 'SCENARIO:refusal is nobody’s wish in here' },
      ...turns.map(({ role, text }) =>
        role === 'tool'
          ? { type: 'function_call_output', call_id: 'x', output: text }
          : { type: 'message', role, content: [{ type: 'input_text', text }] },
      ),
    ],
  }),
  whole(body) {
    const heard = nothingHeard()
    const response = Response.parse(body)
    for (const item of response.output) {
      if (item.type === 'reasoning') heard.thinking += item.summary.map(({ text }) => text).join('')
      else if (item.type === 'message') hear(heard, item.content.map(({ text }) => text).join(''))
      else {
        const input: unknown = item.type === 'function_call' ? JSON.parse(item.arguments) : item.input
        heard.calls.push({ id: item.call_id, name: item.name, input })
      }
    }
    const stop = response.incomplete_details?.reason ?? response.status
    return { ...heard, stop, usage: response.usage }
  },
  /** Told three times over: in deltas, item by item, and at the end. All three have to say the same. */
  stream(stream) {
    const events = stream.map(({ event, data }, index) => {
      const message = Event.parse(JSON.parse(data))
      if (message.type !== event) throw new TypeError(`${event} carries ${message.type}`)
      if (message.sequence_number !== index) throw new TypeError(`${event} is out of order`)
      return message
    })
    const end = events.at(-1)
    if (end?.type !== 'response.completed' && end?.type !== 'response.incomplete')
      throw new TypeError('the stream has no end')
    const items = events.flatMap((message) =>
      message.type === 'response.output_item.done' ? [message.item] : [],
    )
    if (JSON.stringify(items) !== JSON.stringify(end.response.output))
      throw new TypeError('the end tells other items than the stream')
    const heard = this.whole(end.response)
    const pieces = events.flatMap((message) =>
      message.type === 'response.output_text.delta' ? [message.delta] : [],
    )
    if (pieces.join('') !== heard.text) throw new TypeError('the deltas are not the text')
    return { ...heard, pieces }
  },
  problem: (body) => OpenaiProblem.parse(body).error.message,
  failure: ({ data }) => Failed.parse(JSON.parse(data)).response.error?.message ?? '',
  stops: { end: 'completed', tools: 'completed', length: 'max_output_tokens', refusal: 'content_filter' },
  usage: {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 30 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 120,
  },
}
