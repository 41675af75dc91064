import { contentText, type Fields, fields, items, text } from '../fields.ts'
import { type Message, type ModelCall, offeredTool } from '../model-call.ts'
import type { StopReason } from '../scenario.ts'
import { type Api, argumentPieces, callId, type Emitted, type StreamMessage } from './api.ts'
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
  failure: (_said, message) => ({
    data: { error: { message, type: 'server_error', param: null, code: null } },
  }),
}

function read(body: Fields): ModelCall {
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

function readMessage(message: Fields): Message[] {
  const role = message.role
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return []
  return [{ role, text: contentText(message, 'content') }]
}

function stream(said: Emitted): StreamMessage[] {
  const told: StreamMessage[] = []
  const tell = (delta: object, isPiece = false, finish: string | null = null) =>
    told.push({
      data: {
        ...envelope(said, 'chat.completion.chunk'),
        choices: [{ index: 0, delta, finish_reason: finish }],
      },
      isPiece,
    })
  tell({ role: 'assistant', content: '' })
  for (const piece of said.thinking) tell({ reasoning_content: piece }, true)
  for (const piece of said.text) tell({ content: piece }, true)
  said.calls.forEach((call, index) => {
    const opened = { id: callId('call', said, index), type: 'function' }
    tell({ tool_calls: [{ index, ...opened, function: { name: call.name, arguments: '' } }] })
    for (const piece of argumentPieces(call))
      tell({ tool_calls: [{ index, function: { arguments: piece } }] }, true)
  })
  tell({}, false, FINISH[said.stop])
  told.push({ data: { ...envelope(said, 'chat.completion.chunk'), choices: [], usage: usageOf(said) } })
  told.push({ data: '[DONE]' })
  return told
}

function whole(said: Emitted): object {
  const calls = said.calls.map((call, index) => ({
    id: callId('call', said, index),
    type: 'function',
    function: { name: call.name, arguments: argumentPieces(call).join('') },
  }))
  const message = {
    role: 'assistant',
    content: said.text.length > 0 ? said.text.join('') : null,
    ...(said.thinking.length > 0 && { reasoning_content: said.thinking.join('') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    ...envelope(said, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: FINISH[said.stop] }],
    usage: usageOf(said),
  }
}

function envelope(said: Emitted, object: string): object {
  return { id: `chatcmpl_${said.id}`, object, created: Math.floor(Date.now() / 1000), model: said.model }
}

function usageOf({ usage }: Emitted): object {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    prompt_tokens: prompt,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens: usage.output,
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: prompt + usage.output,
  }
}
