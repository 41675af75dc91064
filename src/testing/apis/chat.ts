import { contentText, fields, items, type JsonFields, text } from '../fields.ts'
import { type ModelCall, type ModelMessage, offeredTool } from '../model-call.ts'
import type { StopReason } from '../scenario.ts'
import { type Api, argumentPieces, callId, type ModelReply, type ModelStreamMessage } from './api.ts'
import { openaiProblem } from './openai-problem.ts'

const FINISH: Record<StopReason, string> = {
  end: 'stop',
  tools: 'tool_calls',
  length: 'length',
  refusal: 'content_filter',
}

/** OpenAI chat completions, with the `reasoning_content` that compatible servers added to it. */
export const chat: Api = {
  id: 'chat',
  path: /^\/v1\/chat\/completions$/,
  read,
  stream,
  whole,
  problem: openaiProblem,
  failure: (_emitted, message) => ({
    data: { error: { message, type: 'server_error', param: null, code: null } },
  }),
}

function read(body: JsonFields): ModelCall {
  return {
    api: 'chat',
    model: text(body, 'model') ?? '',
    streaming: body.stream === true,
    tools: items(body, 'tools').map((tool) => {
      const called = fields(tool, 'function')
      return offeredTool(text(called, 'name') ?? '', fields(called, 'parameters'))
    }),
    messages: items(body, 'messages').flatMap(readMessage),
  }
}

function readMessage(message: JsonFields): ModelMessage[] {
  const role = message.role
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return []
  return [{ role, text: contentText(message, 'content') }]
}

function stream(emitted: ModelReply): ModelStreamMessage[] {
  const messages: ModelStreamMessage[] = []
  const write = (delta: object, isPiece = false, finish: string | null = null) =>
    messages.push({
      data: {
        ...envelope(emitted, 'chat.completion.chunk'),
        choices: [{ index: 0, delta, finish_reason: finish }],
      },
      isPiece,
    })
  write({ role: 'assistant', content: '' })
  for (const piece of emitted.thinking) write({ reasoning_content: piece }, true)
  for (const piece of emitted.text) write({ content: piece }, true)
  emitted.calls.forEach((call, index) => {
    const opened = { id: callId('call', emitted, index), type: 'function' }
    write({ tool_calls: [{ index, ...opened, function: { name: call.name, arguments: '' } }] })
    for (const piece of argumentPieces(call))
      write({ tool_calls: [{ index, function: { arguments: piece } }] }, true)
  })
  write({}, false, FINISH[emitted.stop])
  messages.push({
    data: { ...envelope(emitted, 'chat.completion.chunk'), choices: [], usage: usageOf(emitted) },
  })
  messages.push({ data: '[DONE]' })
  return messages
}

function whole(emitted: ModelReply): object {
  const calls = emitted.calls.map((call, index) => ({
    id: callId('call', emitted, index),
    type: 'function',
    function: { name: call.name, arguments: argumentPieces(call).join('') },
  }))
  const message = {
    role: 'assistant',
    content: emitted.text.length > 0 ? emitted.text.join('') : null,
    ...(emitted.thinking.length > 0 && { reasoning_content: emitted.thinking.join('') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    ...envelope(emitted, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: FINISH[emitted.stop] }],
    usage: usageOf(emitted),
  }
}

function envelope(emitted: ModelReply, object: string): object {
  return {
    id: `chatcmpl_${emitted.id}`,
    object,
    created: Math.floor(Date.now() / 1000),
    model: emitted.model,
  }
}

function usageOf({ usage }: ModelReply): object {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    prompt_tokens: prompt,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens: usage.output,
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: prompt + usage.output,
  }
}
