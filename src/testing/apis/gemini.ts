import { type Fields, fields, isFields, items, text } from '../fields.ts'
import { type Message, type ModelCall, type OfferedTool, offeredTool } from '../model-call.ts'
import type { StopReason } from '../scenario.ts'
import { type Api, callId, type Emitted, type Problem, type StreamMessage } from './api.ts'

const FINISH: Record<StopReason, string> = {
  end: 'STOP',
  tools: 'STOP',
  length: 'MAX_TOKENS',
  refusal: 'SAFETY',
}

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

const PATH = /^\/v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/

/** Gemini, with `alt=sse` for streams. */
export const gemini: Api = {
  id: 'gemini',
  path: PATH,
  counting: {
    path: /^\/v1(?:beta)?\/models\/[^/:]+:countTokens$/,
    answer: (tokens) => ({ totalTokens: tokens }),
  },
  read,
  stream,
  whole: (said) => chunk(said, [...partsOf(said), ...callsOf(said)], FINISH[said.stop]),
  problem,
  failure: (_said, message) => ({ data: problem({ status: 500, message }) }),
}

function read(body: Fields, url: URL): ModelCall {
  const [, model = '', method] = PATH.exec(url.pathname) ?? []
  return {
    api: 'gemini',
    model,
    streaming: method === 'streamGenerateContent',
    tools: items(body, 'tools').flatMap((group) => items(group, 'functionDeclarations').map(readTool)),
    messages: items(body, 'contents').flatMap(readContent),
    ...(isFields(body.systemInstruction) && { system: textOf(body.systemInstruction) }),
  }
}

/** The schema of the arguments has one of two names. */
function readTool(tool: Fields): OfferedTool {
  const schema = { ...fields(tool, 'parameters'), ...fields(tool, 'parametersJsonSchema') }
  return offeredTool(text(tool, 'name') ?? '', schema)
}

function textOf(content: Fields): string {
  return items(content, 'parts')
    .map((part) => text(part, 'text') ?? '')
    .join('')
}

function readContent(content: Fields): Message[] {
  const parts = items(content, 'parts')
  const said = textOf(content)
  if (content.role === 'model') return [{ role: 'assistant', text: said }]
  const results = parts.filter((part) => part.functionResponse !== undefined)
  return [
    ...results.map((part): Message => ({ role: 'tool', text: JSON.stringify(part.functionResponse) })),
    ...(said === '' ? [] : [{ role: 'user', text: said } satisfies Message]),
  ]
}

/** What is blocked has no content at all. */
function partsOf(said: Emitted): object[] {
  if (said.stop === 'refusal') return []
  return [
    ...said.thinking.map((piece) => ({ text: piece, thought: true })),
    ...said.text.map((piece) => ({ text: piece })),
  ]
}

/** Arguments are never cut: a call is one part. */
function callsOf(said: Emitted): object[] {
  return said.calls.map((call, index) => ({
    functionCall: { id: callId('call', said, index), name: call.name, args: call.input },
    // Newer models refuse a call that comes back without one.
    thoughtSignature: Buffer.from(callId('signature', said, index)).toString('base64'),
  }))
}

/** Nothing closes a stream but the reason to stop, which stands in the last message. */
function stream(said: Emitted): StreamMessage[] {
  const spoken = [...partsOf(said), ...callsOf(said)].map((part) => ({
    data: chunk(said, [part]),
    isPiece: true,
  }))
  return [...spoken, { data: chunk(said, [{ text: '' }], FINISH[said.stop]) }]
}

function chunk(said: Emitted, parts: readonly object[], finishReason?: string): object {
  return {
    candidates: [
      { content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }), index: 0 },
    ],
    ...(finishReason !== undefined && { usageMetadata: usageOf(said) }),
    modelVersion: said.model,
    responseId: said.id,
  }
}

function usageOf({ usage }: Emitted): object {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    promptTokenCount: prompt,
    cachedContentTokenCount: usage.cacheRead,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    totalTokenCount: prompt + usage.output,
  }
}

function problem({ status, message, retryAfterSeconds }: Problem): object {
  const retry = {
    '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay: `${retryAfterSeconds}s`,
  }
  return {
    error: {
      code: status,
      message,
      status: STATUSES[status] ?? 'UNKNOWN',
      ...(retryAfterSeconds !== undefined && { details: [retry] }),
    },
  }
}
