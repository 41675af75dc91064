import { SseParser } from '../../src/framing/sse.ts'
import { type Reply, type ScriptedModel, scriptedModel } from '../../src/testing/index.ts'
import { chat } from './clients/chat.ts'
import type { Client, Heard, StreamMessage, Tool, Turn } from './clients/client.ts'
import { gemini } from './clients/gemini.ts'
import { messages } from './clients/messages.ts'
import { responses } from './clients/responses.ts'

export const CLIENTS = { messages, responses, chat, gemini }

/** Clients with and without a stream, for tests that hold for both. */
export const WAYS = Object.values(CLIENTS).flatMap((client) =>
  [true, false].map(
    (streaming) => [`${client.name}, ${streaming ? 'streamed' : 'whole'}`, client, streaming] as const,
  ),
)

export const SHELL: Tool = { name: 'Bash', parameters: ['command', 'description'] }

export interface Asking {
  turns?: readonly Turn[]
  tools?: readonly Tool[]
  streaming?: boolean
  signal?: AbortSignal
}

/** A model that gives this reply to `START`. */
export function saying(reply: Reply): Promise<ScriptedModel> {
  return scriptedModel({ scenarios: { x: { replies: [reply] } } })
}

/** A conversation that only has its first prompt. */
export const prompt = (text: string): Turn[] => [{ role: 'user', text }]

export const START = prompt('SCENARIO:x')

export function post(model: ScriptedModel, client: Client, asking: Asking = {}): Promise<Response> {
  const { turns = START, tools = [SHELL], streaming = true, signal } = asking
  return fetch(model.url + client.path(streaming), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer secret', 'x-api-key': 'secret' },
    body: JSON.stringify(client.body(turns, tools, streaming)),
    ...(signal && { signal }),
  })
}

/** Asks, and hears the whole answer; anything but a good answer throws. */
export async function ask(model: ScriptedModel, client: Client, asking: Asking = {}): Promise<Heard> {
  const response = await post(model, client, asking)
  const text = await response.text()
  if (response.status !== 200) throw new TypeError(`${response.status} ${text}`)
  return (asking.streaming ?? true) ? client.stream(streamed(text)) : client.whole(JSON.parse(text))
}

/** The messages of an event stream, as far as it came. */
export function streamed(text: string): StreamMessage[] {
  return new SseParser().push(text)
}
