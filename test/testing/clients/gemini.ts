import * as z from 'zod'
import { type Client, hear, nothingHeard, schemaOf } from './client.ts'

const Part = z.union([
  z.strictObject({ text: z.string(), thought: z.literal(true).optional() }),
  z.strictObject({
    functionCall: z.strictObject({ id: z.string(), name: z.string(), args: z.unknown() }),
    thoughtSignature: z.base64(),
  }),
])

const Answer = z.strictObject({
  candidates: z.tuple([
    z.strictObject({
      content: z.strictObject({ role: z.literal('model'), parts: z.array(Part) }),
      finishReason: z.string().optional(),
      index: z.literal(0),
    }),
  ]),
  usageMetadata: z
    .strictObject({
      promptTokenCount: z.int(),
      cachedContentTokenCount: z.int(),
      candidatesTokenCount: z.int(),
      thoughtsTokenCount: z.int(),
      totalTokenCount: z.int(),
    })
    .optional(),
  modelVersion: z.literal('a-model'),
  responseId: z.string(),
})

const Problem = z.strictObject({
  error: z.strictObject({
    code: z.int(),
    message: z.string(),
    status: z.string().regex(/^[A-Z_]+$/),
    details: z.array(z.looseObject({ '@type': z.string() })).optional(),
  }),
})

export const gemini: Client = {
  name: 'Gemini',
  path: (streaming) =>
    `/v1beta/models/a-model:${streaming ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: (turns, tools) => ({
    systemInstruction: { parts: [{ text: 'SCENARIO:refusal is nobody’s wish in here' }] },
    tools: [
      {
        functionDeclarations: tools.map((tool) => ({
          name: tool.name,
          parametersJsonSchema: schemaOf(tool),
        })),
      },
    ],
    contents: turns.map(({ role, text }) =>
      role === 'tool'
        ? { role: 'user', parts: [{ functionResponse: { name: 'x', response: { output: text } } }] }
        : { role: role === 'user' ? 'user' : 'model', parts: [{ text }] },
    ),
  }),
  whole(body) {
    const heard = nothingHeard()
    const { candidates, usageMetadata } = Answer.parse(body)
    const [{ content, finishReason }] = candidates
    for (const part of content.parts) {
      if ('functionCall' in part) {
        const { id, name, args } = part.functionCall
        heard.calls.push({ id, name, input: args })
      } else if (part.thought) heard.thinking += part.text
      else if (part.text !== '') hear(heard, part.text)
    }
    return { ...heard, stop: finishReason ?? '', usage: usageMetadata }
  },
  stream(stream) {
    const heard = nothingHeard()
    stream.forEach(({ data }, index) => {
      const { thinking, pieces, calls, stop, usage } = this.whole(JSON.parse(data))
      heard.thinking += thinking
      for (const piece of pieces) hear(heard, piece)
      heard.calls.push(...calls)
      if ((stop !== '') !== (index === stream.length - 1)) throw new TypeError('the end is not at the end')
      heard.stop = stop
      heard.usage = usage
    })
    return heard
  },
  problem: (body) => Problem.parse(body).error.message,
  failure: ({ data }) => Problem.parse(JSON.parse(data)).error.message,
  stops: { end: 'STOP', tools: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' },
  usage: {
    promptTokenCount: 100,
    cachedContentTokenCount: 30,
    candidatesTokenCount: 15,
    thoughtsTokenCount: 5,
    totalTokenCount: 120,
  },
}
