import * as z from 'zod'
import { type Client, hear, nothingHeard, schemaOf } from './client.ts'
import { OpenaiProblem } from './openai-problem.ts'

const Usage = z.strictObject({
  prompt_tokens: z.int(),
  prompt_tokens_details: z.strictObject({ cached_tokens: z.int() }),
  completion_tokens: z.int(),
  completion_tokens_details: z.strictObject({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
})

const envelope = { id: z.string(), created: z.int(), model: z.literal('a-model') }

const Completion = z.strictObject({
  ...envelope,
  object: z.literal('chat.completion'),
  choices: z.tuple([
    z.strictObject({
      index: z.literal(0),
      message: z.strictObject({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        reasoning_content: z.string().optional(),
        tool_calls: z
          .array(
            z.strictObject({
              id: z.string(),
              type: z.literal('function'),
              function: z.strictObject({ name: z.string(), arguments: z.string() }),
            }),
          )
          .optional(),
      }),
      finish_reason: z.string(),
    }),
  ]),
  usage: Usage,
})

const Chunk = z.strictObject({
  ...envelope,
  object: z.literal('chat.completion.chunk'),
  choices: z.array(
    z.strictObject({
      index: z.literal(0),
      delta: z.strictObject({
        role: z.literal('assistant').optional(),
        content: z.string().optional(),
        reasoning_content: z.string().optional(),
        tool_calls: z
          .array(
            z.strictObject({
              index: z.int(),
              id: z.string().optional(),
              type: z.literal('function').optional(),
              function: z.strictObject({ name: z.string().optional(), arguments: z.string() }),
            }),
          )
          .optional(),
      }),
      finish_reason: z.string().nullable(),
    }),
  ),
  usage: Usage.optional(),
})

export const chat: Client = {
  name: 'OpenAI chat completions',
  path: () => '/v1/chat/completions',
  body: (turns, tools, streaming) => ({
    model: 'a-model',
    stream: streaming,
    tools: tools.map((tool) => ({
      type: 'function',
      function: { name: tool.name, parameters: schemaOf(tool) },
    })),
    messages: [
      { role: 'system', content: 'SCENARIO:refusal is nobody’s wish in here' },
      ...turns.map(({ role, text }) => ({ role, content: text })),
    ],
  }),
  whole(body) {
    const heard = nothingHeard()
    const { choices, usage } = Completion.parse(body)
    const [{ message, finish_reason: stop }] = choices
    if (message.content !== null) hear(heard, message.content)
    for (const { id, function: called } of message.tool_calls ?? [])
      heard.calls.push({ id, name: called.name, input: JSON.parse(called.arguments) })
    return { ...heard, thinking: message.reasoning_content ?? '', stop, usage }
  },
  stream(stream) {
    const heard = nothingHeard()
    const drafts: string[] = []
    if (stream.at(-1)?.data !== '[DONE]') throw new TypeError('the stream has no end')
    for (const { data } of stream.slice(0, -1)) {
      const { choices, usage } = Chunk.parse(JSON.parse(data))
      if (usage) heard.usage = usage
      const [choice] = choices
      if (!choice) continue
      heard.thinking += choice.delta.reasoning_content ?? ''
      if (choice.delta.content) hear(heard, choice.delta.content)
      for (const { index, id, function: called } of choice.delta.tool_calls ?? []) {
        if (id !== undefined) heard.calls.push({ id, name: called.name ?? '', input: undefined })
        drafts[index] = (drafts[index] ?? '') + called.arguments
      }
      if (choice.finish_reason !== null) heard.stop = choice.finish_reason
    }
    heard.calls.forEach((call, index) => {
      call.input = JSON.parse(drafts[index] ?? '')
    })
    return heard
  },
  problem: (body) => OpenaiProblem.parse(body).error.message,
  failure: ({ data }) => OpenaiProblem.parse(JSON.parse(data)).error.message,
  stops: { end: 'stop', tools: 'tool_calls', length: 'length', refusal: 'content_filter' },
  usage: {
    prompt_tokens: 100,
    prompt_tokens_details: { cached_tokens: 30 },
    completion_tokens: 20,
    completion_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 120,
  },
}
