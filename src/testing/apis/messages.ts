import { contentText, fields, items, type JsonFields, text } from '../fields.ts'
import { type ModelCall, type ModelMessage, offeredTool } from '../model-call.ts'
import type { StopReason } from '../scenario.ts'
import { type Api, argumentPieces, callId, type ModelReply, type ModelStreamMessage } from './api.ts'

const STOP: Record<StopReason, string> = {
  end: 'end_turn',
  tools: 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
}

const ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** Anthropic Messages. */
export const messages: Api = {
  id: 'messages',
  path: /^\/v1\/messages$/,
  counting: {
    path: /^\/v1\/messages\/count_tokens$/,
    answer: (tokens) => ({ input_tokens: tokens }),
  },
  read,
  stream,
  whole,
  problem: ({ status, message }) => ({
    type: 'error',
    error: { type: ERRORS[status] ?? 'api_error', message },
  }),
  failure: (_emitted, message) => ({
    event: 'error',
    data: { type: 'error', error: { type: 'overloaded_error', message } },
  }),
}

function read(body: JsonFields): ModelCall {
  return {
    api: 'messages',
    model: text(body, 'model') ?? '',
    streaming: body.stream === true,
    tools: items(body, 'tools').map((tool) =>
      offeredTool(text(tool, 'name') ?? '', fields(tool, 'input_schema')),
    ),
    messages: items(body, 'messages').flatMap(readMessage),
  }
}

/**
 * Results of tools are in messages of the user, sometimes with text. A system message in between counts as the user's,
 * because Claude Code puts prompts into one that arrive while it works.
 */
function readMessage(message: JsonFields): ModelMessage[] {
  if (message.role === 'assistant') return [{ role: 'assistant', text: contentText(message, 'content') }]
  const results = items(message, 'content').filter(({ type }) => type === 'tool_result')
  const emitted = contentText(message, 'content')
  return [
    ...results.map((result): ModelMessage => ({ role: 'tool', text: contentText(result, 'content') })),
    ...(emitted === '' ? [] : [{ role: 'user', text: emitted } satisfies ModelMessage]),
  ]
}

interface Block {
  /** The block in a response without a stream. */
  readonly whole: object
  /** The empty block that starts it in a stream. */
  readonly opened: object
  readonly deltas: readonly { readonly type: string; readonly [key: string]: string }[]
}

function blocksOf(emitted: ModelReply): Block[] {
  const blocks: Block[] = []
  if (emitted.thinking.length > 0) {
    // Programs send the signature back and never read it.
    const signature = `signature_${emitted.id}`
    blocks.push({
      whole: { type: 'thinking', thinking: emitted.thinking.join(''), signature },
      opened: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...emitted.thinking.map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature },
      ],
    })
  }
  if (emitted.text.length > 0) {
    blocks.push({
      whole: { type: 'text', text: emitted.text.join('') },
      opened: { type: 'text', text: '' },
      deltas: emitted.text.map((piece) => ({ type: 'text_delta', text: piece })),
    })
  }
  emitted.calls.forEach((call, index) => {
    const use = { type: 'tool_use', id: callId('toolu', emitted, index), name: call.name }
    blocks.push({
      whole: { ...use, input: call.input },
      opened: { ...use, input: {} },
      deltas: argumentPieces(call).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    })
  })
  return blocks
}

function stream(emitted: ModelReply): ModelStreamMessage[] {
  const messages: ModelStreamMessage[] = []
  const write = (data: { type: string }, isPiece = false) =>
    messages.push({ event: data.type, data, isPiece })
  const started = {
    ...envelope(emitted, []),
    stop_reason: null,
    usage: { ...usageOf(emitted), output_tokens: 1 },
  }
  write({ type: 'message_start', ...{ message: started } })
  write({ type: 'ping' })
  blocksOf(emitted).forEach(({ opened, deltas }, index) => {
    write({ type: 'content_block_start', ...{ index, content_block: opened } })
    for (const delta of deltas) {
      write({ type: 'content_block_delta', ...{ index, delta } }, delta.type !== 'signature_delta')
    }
    write({ type: 'content_block_stop', ...{ index } })
  })
  const delta = { stop_reason: STOP[emitted.stop], stop_sequence: null }
  write({ type: 'message_delta', ...{ delta, usage: usageOf(emitted) } })
  write({ type: 'message_stop' })
  return messages
}

function whole(emitted: ModelReply): object {
  return envelope(
    emitted,
    blocksOf(emitted).map((block) => block.whole),
  )
}

function envelope(emitted: ModelReply, content: object[]): object {
  return {
    id: `msg_${emitted.id}`,
    type: 'message',
    role: 'assistant',
    model: emitted.model,
    content,
    stop_reason: STOP[emitted.stop],
    stop_sequence: null,
    usage: usageOf(emitted),
  }
}

function usageOf({ usage }: ModelReply): object {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
  }
}
