import { fields, isFields, items, type JsonFields, text } from '../fields.ts'
import { type ModelCall, type ModelMessage, type OfferedTool, offeredTool } from '../model-call.ts'
import type { StopReason } from '../scenario.ts'
import { type Api, callId, type ModelProblem, type ModelReply, type ModelStreamMessage } from './api.ts'

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
  whole: (emitted) => chunk(emitted, [...partsOf(emitted), ...callsOf(emitted)], FINISH[emitted.stop]),
  problem,
  failure: (_emitted, message) => ({ data: problem({ status: 500, message }) }),
}

function read(body: JsonFields, url: URL): ModelCall {
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

/** The schema of the arguments, which has one of two names. */
function readTool(tool: JsonFields): OfferedTool {
  const schema = { ...fields(tool, 'parameters'), ...fields(tool, 'parametersJsonSchema') }
  return offeredTool(text(tool, 'name') ?? '', schema)
}

function textOf(content: JsonFields): string {
  return items(content, 'parts')
    .map((part) => text(part, 'text') ?? '')
    .join('')
}

function readContent(content: JsonFields): ModelMessage[] {
  const parts = items(content, 'parts')
  const emitted = textOf(content)
  if (content.role === 'model') return [{ role: 'assistant', text: emitted }]
  const results = parts.filter((part) => part.functionResponse !== undefined)
  return [
    ...results.map((part): ModelMessage => ({ role: 'tool', text: JSON.stringify(part.functionResponse) })),
    ...(emitted === '' ? [] : [{ role: 'user', text: emitted } satisfies ModelMessage]),
  ]
}

/** A blocked response has no content. */
function partsOf(emitted: ModelReply): object[] {
  if (emitted.stop === 'refusal') return []
  return [
    ...emitted.thinking.map((piece) => ({ text: piece, thought: true })),
    ...emitted.text.map((piece) => ({ text: piece })),
  ]
}

/** A tool call is one part; its arguments are not split. */
function callsOf(emitted: ModelReply): object[] {
  return emitted.calls.map((call, index) => ({
    functionCall: { id: callId('call', emitted, index), name: call.name, args: call.input },
    // Newer models refuse a call without a signature.
    thoughtSignature: Buffer.from(callId('signature', emitted, index)).toString('base64'),
  }))
}

/** The last message has the stop reason; nothing else ends a stream. */
function stream(emitted: ModelReply): ModelStreamMessage[] {
  const spoken = [...partsOf(emitted), ...callsOf(emitted)].map((part) => ({
    data: chunk(emitted, [part]),
    isPiece: true,
  }))
  return [...spoken, { data: chunk(emitted, [{ text: '' }], FINISH[emitted.stop]) }]
}

function chunk(emitted: ModelReply, parts: readonly object[], finishReason?: string): object {
  return {
    candidates: [
      { content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }), index: 0 },
    ],
    ...(finishReason !== undefined && { usageMetadata: usageOf(emitted) }),
    modelVersion: emitted.model,
    responseId: emitted.id,
  }
}

function usageOf({ usage }: ModelReply): object {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    promptTokenCount: prompt,
    cachedContentTokenCount: usage.cacheRead,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    totalTokenCount: prompt + usage.output,
  }
}

function problem({ status, message, retryAfterSeconds }: ModelProblem): object {
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
