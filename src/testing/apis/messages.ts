import { contentText, type Fields, fields, items, text } from '../fields.ts'
import { type Message, type ModelCall, offeredTool } from '../model-call.ts'
import type { StopReason } from '../scenario.ts'
import { type Api, argumentPieces, callId, type Emitted, type StreamMessage } from './api.ts'

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
  failure: (_said, message) => ({
    event: 'error',
    data: { type: 'error', error: { type: 'overloaded_error', message } },
  }),
}

function read(body: Fields): ModelCall {
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
 * Results of tools stand in messages of the user, sometimes with text beside them. A system message in between
 * counts as the user's: Claude Code tells in one what the user said while it worked.
 */
function readMessage(message: Fields): Message[] {
  if (message.role === 'assistant') return [{ role: 'assistant', text: contentText(message, 'content') }]
  const results = items(message, 'content').filter(({ type }) => type === 'tool_result')
  const said = contentText(message, 'content')
  return [
    ...results.map((result): Message => ({ role: 'tool', text: contentText(result, 'content') })),
    ...(said === '' ? [] : [{ role: 'user', text: said } satisfies Message]),
  ]
}

interface Block {
  /** As it stands in a whole answer. */
  readonly whole: object
  /** As it is opened in a stream, before anything is in it. */
  readonly opened: object
  readonly deltas: readonly { readonly type: string; readonly [key: string]: string }[]
}

function blocksOf(said: Emitted): Block[] {
  const blocks: Block[] = []
  if (said.thinking.length > 0) {
    // Programs send the signature back and never read it.
    const signature = `signature_${said.id}`
    blocks.push({
      whole: { type: 'thinking', thinking: said.thinking.join(''), signature },
      opened: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...said.thinking.map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature },
      ],
    })
  }
  if (said.text.length > 0) {
    blocks.push({
      whole: { type: 'text', text: said.text.join('') },
      opened: { type: 'text', text: '' },
      deltas: said.text.map((piece) => ({ type: 'text_delta', text: piece })),
    })
  }
  said.calls.forEach((call, index) => {
    const use = { type: 'tool_use', id: callId('toolu', said, index), name: call.name }
    blocks.push({
      whole: { ...use, input: call.input },
      opened: { ...use, input: {} },
      deltas: argumentPieces(call).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    })
  })
  return blocks
}

function stream(said: Emitted): StreamMessage[] {
  const told: StreamMessage[] = []
  const tell = (data: { type: string }, isPiece = false) => told.push({ event: data.type, data, isPiece })
  const started = { ...envelope(said, []), stop_reason: null, usage: { ...usageOf(said), output_tokens: 1 } }
  tell({ type: 'message_start', ...{ message: started } })
  tell({ type: 'ping' })
  blocksOf(said).forEach(({ opened, deltas }, index) => {
    tell({ type: 'content_block_start', ...{ index, content_block: opened } })
    for (const delta of deltas) {
      tell({ type: 'content_block_delta', ...{ index, delta } }, delta.type !== 'signature_delta')
    }
    tell({ type: 'content_block_stop', ...{ index } })
  })
  const delta = { stop_reason: STOP[said.stop], stop_sequence: null }
  tell({ type: 'message_delta', ...{ delta, usage: usageOf(said) } })
  tell({ type: 'message_stop' })
  return told
}

function whole(said: Emitted): object {
  return envelope(
    said,
    blocksOf(said).map((block) => block.whole),
  )
}

function envelope(said: Emitted, content: object[]): object {
  return {
    id: `msg_${said.id}`,
    type: 'message',
    role: 'assistant',
    model: said.model,
    content,
    stop_reason: STOP[said.stop],
    stop_sequence: null,
    usage: usageOf(said),
  }
}

function usageOf({ usage }: Emitted): object {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
  }
}
