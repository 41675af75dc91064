import { contentText, type Fields, fields, items, text } from '../fields.ts'
import { type Message, type ModelCall, type OfferedTool, offeredTool } from '../model-call.ts'
import type { NativeCall } from '../scenario.ts'
import { type Api, argumentPieces, callId, type Emitted, type StreamMessage } from './api.ts'
import { openaiProblem } from './openai-problem.ts'

/** OpenAI Responses. */
export const responses: Api = {
  id: 'responses',
  path: /^\/v1\/responses$/,
  read,
  stream,
  whole: (said) => envelope(said, itemsOf(said)),
  problem: openaiProblem,
  failure: (said, message) => ({
    event: 'response.failed',
    data: {
      type: 'response.failed',
      response: { ...envelope(said, []), status: 'failed', error: { code: 'server_error', message } },
    },
  }),
}

function read(body: Fields): ModelCall {
  const input = text(body, 'input')
  return {
    api: 'responses',
    model: text(body, 'model') ?? '',
    streaming: body.stream === true,
    tools: [...items(body, 'tools'), ...laterTools(body)].flatMap((tool) => readTool(tool)),
    messages: input === undefined ? items(body, 'input').flatMap(readItem) : [{ role: 'user', text: input }],
  }
}

/** Newer models of Codex are offered their tools in the conversation. */
function laterTools(body: Fields): Fields[] {
  return items(body, 'input')
    .filter(({ type }) => type === ADDITIONAL_TOOLS)
    .flatMap((item) => items(item, 'tools'))
}

const ADDITIONAL_TOOLS = 'additional_tools'

/** A namespace holds the tools of one server. */
function readTool(tool: Fields, namespace?: string): OfferedTool[] {
  const name = text(tool, 'name') ?? text(tool, 'type') ?? ''
  if (tool.type === 'namespace') return items(tool, 'tools').flatMap((inner) => readTool(inner, name))
  return [offeredTool(name, fields(tool, 'parameters'), namespace)]
}

function readItem(item: Fields): Message[] {
  const type = text(item, 'type') ?? 'message'
  if (type.endsWith('_output')) return [{ role: 'tool', text: contentText(item, 'output') }]
  if (type === ADDITIONAL_TOOLS) return []
  if (type === 'agent_message') return [{ role: 'user', text: messageOfAgent(item) }]
  if (type !== 'message') return [{ role: 'assistant', text: '' }]
  const said = contentText(item, 'content')
  if (item.role === 'assistant') return [{ role: 'assistant', text: said }]
  return item.role === 'user' ? [{ role: 'user', text: said }] : []
}

/** A task for a sub-agent, or its answer. The task is meant to be encrypted, and is not by a scripted model. */
function messageOfAgent(item: Fields): string {
  return items(item, 'content')
    .map((part) => text(part, 'text') ?? text(part, 'encrypted_content') ?? '')
    .join('')
}

type Item = { readonly type: string; readonly id: string; readonly [key: string]: unknown }

function reasoningItem(said: Emitted): Item {
  const summary = [{ type: 'summary_text', text: said.thinking.join('') }]
  return { type: 'reasoning', id: `rs_${said.id}`, summary, encrypted_content: `encrypted_${said.id}` }
}

function messageItem(said: Emitted): Item {
  const part = { type: 'output_text', text: said.text.join(''), annotations: [] }
  return { type: 'message', id: `msg_${said.id}`, role: 'assistant', status: 'completed', content: [part] }
}

function callItem(said: Emitted, call: NativeCall, index: number): Item {
  const common = {
    call_id: callId('call', said, index),
    name: call.name,
    status: 'completed',
    ...(call.namespace !== undefined && { namespace: call.namespace }),
  }
  if (typeof call.input === 'string')
    return { type: 'custom_tool_call', id: callId('ctc', said, index), ...common, input: call.input }
  return {
    type: 'function_call',
    id: callId('fc', said, index),
    ...common,
    arguments: JSON.stringify(call.input),
  }
}

function itemsOf(said: Emitted): Item[] {
  return [
    ...(said.thinking.length > 0 ? [reasoningItem(said)] : []),
    ...(said.text.length > 0 ? [messageItem(said)] : []),
    ...said.calls.map((call, index) => callItem(said, call, index)),
  ]
}

/** Writes down the messages of one stream, numbered. */
class Telling {
  readonly messages: StreamMessage[] = []
  #items = 0

  tell(type: string, rest: object, isPiece = false): void {
    const data = { type, sequence_number: this.messages.length, ...rest }
    this.messages.push({ event: type, data, isPiece })
  }

  /** An item from its opening, where it is still empty, to its end. */
  item(item: Item, empty: object, parts: (place: { item_id: string; output_index: number }) => void): void {
    const output_index = this.#items++
    this.tell('response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', ...empty },
    })
    parts({ item_id: item.id, output_index })
    this.tell('response.output_item.done', { output_index, item })
  }
}

function stream(said: Emitted): StreamMessage[] {
  const telling = new Telling()
  const begun = { ...envelope(said, []), status: 'in_progress', usage: null }
  telling.tell('response.created', { response: begun })
  telling.tell('response.in_progress', { response: begun })
  if (said.thinking.length > 0) tellReasoning(telling, said)
  if (said.text.length > 0) tellText(telling, said)
  said.calls.forEach((call, index) => {
    tellCall(telling, callItem(said, call, index), call)
  })
  const end = isIncomplete(said) ? 'response.incomplete' : 'response.completed'
  telling.tell(end, { response: envelope(said, itemsOf(said)) })
  return telling.messages
}

function tellReasoning(telling: Telling, said: Emitted): void {
  telling.item(reasoningItem(said), { summary: [] }, (item) => {
    const place = { ...item, summary_index: 0 }
    const whole = said.thinking.join('')
    telling.tell('response.reasoning_summary_part.added', {
      ...place,
      part: { type: 'summary_text', text: '' },
    })
    for (const delta of said.thinking)
      telling.tell('response.reasoning_summary_text.delta', { ...place, delta }, true)
    telling.tell('response.reasoning_summary_text.done', { ...place, text: whole })
    telling.tell('response.reasoning_summary_part.done', {
      ...place,
      part: { type: 'summary_text', text: whole },
    })
  })
}

function tellText(telling: Telling, said: Emitted): void {
  telling.item(messageItem(said), { content: [] }, (item) => {
    const place = { ...item, content_index: 0 }
    const part = (words: string) => ({ type: 'output_text', text: words, annotations: [] })
    const whole = said.text.join('')
    telling.tell('response.content_part.added', { ...place, part: part('') })
    for (const delta of said.text) telling.tell('response.output_text.delta', { ...place, delta }, true)
    telling.tell('response.output_text.done', { ...place, text: whole })
    telling.tell('response.content_part.done', { ...place, part: part(whole) })
  })
}

function tellCall(telling: Telling, item: Item, call: NativeCall): void {
  const isFree = typeof call.input === 'string'
  const field = isFree ? 'input' : 'arguments'
  const type = isFree ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
  telling.item(item, { [field]: '' }, (place) => {
    for (const delta of argumentPieces(call)) telling.tell(`${type}.delta`, { ...place, delta }, true)
    telling.tell(`${type}.done`, { ...place, [field]: item[field] })
  })
}

function isIncomplete({ stop }: Emitted): boolean {
  return stop === 'length' || stop === 'refusal'
}

function envelope(said: Emitted, output: readonly Item[]): object {
  const { input, cacheRead, cacheWrite, output: written, reasoning } = said.usage
  const read = input + cacheRead + cacheWrite
  return {
    id: `resp_${said.id}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: isIncomplete(said) ? 'incomplete' : 'completed',
    model: said.model,
    output,
    incomplete_details: isIncomplete(said)
      ? { reason: said.stop === 'length' ? 'max_output_tokens' : 'content_filter' }
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
