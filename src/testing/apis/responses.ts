import { contentText, fields, items, type JsonFields, text } from '../fields.ts'
import { type ModelCall, type ModelMessage, type OfferedTool, offeredTool } from '../model-call.ts'
import type { NativeCall } from '../scenario.ts'
import { type Api, argumentPieces, callId, type ModelReply, type ModelStreamMessage } from './api.ts'
import { openaiProblem } from './openai-problem.ts'

/** OpenAI Responses. */
export const responses: Api = {
  id: 'responses',
  path: /^\/v1\/responses$/,
  read,
  stream,
  whole: (emitted) => envelope(emitted, itemsOf(emitted)),
  problem: openaiProblem,
  failure: (emitted, message) => ({
    event: 'response.failed',
    data: {
      type: 'response.failed',
      response: { ...envelope(emitted, []), status: 'failed', error: { code: 'server_error', message } },
    },
  }),
}

function read(body: JsonFields): ModelCall {
  const input = text(body, 'input')
  return {
    api: 'responses',
    model: text(body, 'model') ?? '',
    streaming: body.stream === true,
    tools: [...items(body, 'tools'), ...laterTools(body)].flatMap((tool) => readTool(tool)),
    messages: input === undefined ? items(body, 'input').flatMap(readItem) : [{ role: 'user', text: input }],
  }
}

/** Tools in the conversation, as Codex sends them for newer models. */
function laterTools(body: JsonFields): JsonFields[] {
  return items(body, 'input')
    .filter(({ type }) => type === ADDITIONAL_TOOLS)
    .flatMap((item) => items(item, 'tools'))
}

const ADDITIONAL_TOOLS = 'additional_tools'

/** A namespace contains the tools of one server. */
function readTool(tool: JsonFields, namespace?: string): OfferedTool[] {
  const name = text(tool, 'name') ?? text(tool, 'type') ?? ''
  if (tool.type === 'namespace') return items(tool, 'tools').flatMap((inner) => readTool(inner, name))
  return [offeredTool(name, fields(tool, 'parameters'), namespace)]
}

function readItem(item: JsonFields): ModelMessage[] {
  const type = text(item, 'type') ?? 'message'
  if (type.endsWith('_output')) return [{ role: 'tool', text: contentText(item, 'output') }]
  if (type === ADDITIONAL_TOOLS) return []
  if (type === 'agent_message') return [{ role: 'user', text: messageOfAgent(item) }]
  if (type !== 'message') return [{ role: 'assistant', text: '' }]
  const emitted = contentText(item, 'content')
  if (item.role === 'assistant') return [{ role: 'assistant', text: emitted }]
  return item.role === 'user' ? [{ role: 'user', text: emitted }] : []
}

/** A task for a sub-agent, or its answer. The task has the field of encrypted text, but the scripted model sends plain text. */
function messageOfAgent(item: JsonFields): string {
  return items(item, 'content')
    .map((part) => text(part, 'text') ?? text(part, 'encrypted_content') ?? '')
    .join('')
}

type Item = { readonly type: string; readonly id: string; readonly [key: string]: unknown }

function reasoningItem(emitted: ModelReply): Item {
  const summary = [{ type: 'summary_text', text: emitted.thinking.join('') }]
  return { type: 'reasoning', id: `rs_${emitted.id}`, summary, encrypted_content: `encrypted_${emitted.id}` }
}

function messageItem(emitted: ModelReply): Item {
  const part = { type: 'output_text', text: emitted.text.join(''), annotations: [] }
  return { type: 'message', id: `msg_${emitted.id}`, role: 'assistant', status: 'completed', content: [part] }
}

function callItem(emitted: ModelReply, call: NativeCall, index: number): Item {
  const common = {
    call_id: callId('call', emitted, index),
    name: call.name,
    status: 'completed',
    ...(call.namespace !== undefined && { namespace: call.namespace }),
  }
  if (typeof call.input === 'string')
    return { type: 'custom_tool_call', id: callId('ctc', emitted, index), ...common, input: call.input }
  return {
    type: 'function_call',
    id: callId('fc', emitted, index),
    ...common,
    arguments: JSON.stringify(call.input),
  }
}

function itemsOf(emitted: ModelReply): Item[] {
  return [
    ...(emitted.thinking.length > 0 ? [reasoningItem(emitted)] : []),
    ...(emitted.text.length > 0 ? [messageItem(emitted)] : []),
    ...emitted.calls.map((call, index) => callItem(emitted, call, index)),
  ]
}

/** Collects the numbered messages of one stream. */
class StreamWriter {
  readonly messages: ModelStreamMessage[] = []
  #items = 0

  write(type: string, rest: object, isPiece = false): void {
    const data = { type, sequence_number: this.messages.length, ...rest }
    this.messages.push({ event: type, data, isPiece })
  }

  /** Writes an item from its start, where it is empty, to its end. */
  item(item: Item, empty: object, parts: (place: { item_id: string; output_index: number }) => void): void {
    const output_index = this.#items++
    this.write('response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', ...empty },
    })
    parts({ item_id: item.id, output_index })
    this.write('response.output_item.done', { output_index, item })
  }
}

function stream(emitted: ModelReply): ModelStreamMessage[] {
  const writer = new StreamWriter()
  const begun = { ...envelope(emitted, []), status: 'in_progress', usage: null }
  writer.write('response.created', { response: begun })
  writer.write('response.in_progress', { response: begun })
  if (emitted.thinking.length > 0) tellReasoning(writer, emitted)
  if (emitted.text.length > 0) tellText(writer, emitted)
  emitted.calls.forEach((call, index) => {
    tellCall(writer, callItem(emitted, call, index), call)
  })
  const end = isIncomplete(emitted) ? 'response.incomplete' : 'response.completed'
  writer.write(end, { response: envelope(emitted, itemsOf(emitted)) })
  return writer.messages
}

function tellReasoning(writer: StreamWriter, emitted: ModelReply): void {
  writer.item(reasoningItem(emitted), { summary: [] }, (item) => {
    const place = { ...item, summary_index: 0 }
    const whole = emitted.thinking.join('')
    writer.write('response.reasoning_summary_part.added', {
      ...place,
      part: { type: 'summary_text', text: '' },
    })
    for (const delta of emitted.thinking)
      writer.write('response.reasoning_summary_text.delta', { ...place, delta }, true)
    writer.write('response.reasoning_summary_text.done', { ...place, text: whole })
    writer.write('response.reasoning_summary_part.done', {
      ...place,
      part: { type: 'summary_text', text: whole },
    })
  })
}

function tellText(writer: StreamWriter, emitted: ModelReply): void {
  writer.item(messageItem(emitted), { content: [] }, (item) => {
    const place = { ...item, content_index: 0 }
    const part = (words: string) => ({ type: 'output_text', text: words, annotations: [] })
    const whole = emitted.text.join('')
    writer.write('response.content_part.added', { ...place, part: part('') })
    for (const delta of emitted.text) writer.write('response.output_text.delta', { ...place, delta }, true)
    writer.write('response.output_text.done', { ...place, text: whole })
    writer.write('response.content_part.done', { ...place, part: part(whole) })
  })
}

function tellCall(writer: StreamWriter, item: Item, call: NativeCall): void {
  const isFree = typeof call.input === 'string'
  const field = isFree ? 'input' : 'arguments'
  const type = isFree ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
  writer.item(item, { [field]: '' }, (place) => {
    for (const delta of argumentPieces(call)) writer.write(`${type}.delta`, { ...place, delta }, true)
    writer.write(`${type}.done`, { ...place, [field]: item[field] })
  })
}

function isIncomplete({ stop }: ModelReply): boolean {
  return stop === 'length' || stop === 'refusal'
}

function envelope(emitted: ModelReply, output: readonly Item[]): object {
  const { input, cacheRead, cacheWrite, output: written, reasoning } = emitted.usage
  const read = input + cacheRead + cacheWrite
  return {
    id: `resp_${emitted.id}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: isIncomplete(emitted) ? 'incomplete' : 'completed',
    model: emitted.model,
    output,
    incomplete_details: isIncomplete(emitted)
      ? { reason: emitted.stop === 'length' ? 'max_output_tokens' : 'content_filter' }
      : null,
    error: null,
    usage: {
      input_tokens: read,
      input_tokens_details: { cached_tokens: cacheRead },
      output_tokens: written,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: read + written,
    },
  }
}
