import { expect } from 'vitest'
import { StreamEvent } from '../../../src/dialects/daemon/daemon-event.ts'
import { RpcResponse } from '../../../src/gateway/rpc/envelope.ts'
import type { Cue } from '../puppet.ts'
import { type Options, startGateway, type TestGateway, TOKEN } from '../start.ts'
import { StreamReader } from '../streams/sse.ts'
import { talker } from '../talker.ts'

/** A gateway whose ceiling is out of the way, with an agent that asks. */
export function startRpc(options: Options = {}): Promise<TestGateway> {
  const ceiling = { approval: 'auto-all', sandbox: 'full-access' } as const
  return startGateway({ ceiling, more: [talker], ...options })
}

/** Posts whatever it is given. */
export function post(server: TestGateway, body: unknown, init: RequestInit & { path?: string } = {}) {
  const { path = '/rpc', headers, ...rest } = init
  return fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...rest,
  })
}

/** Calls a method as clients of this face do, without `jsonrpc` and `id`. */
export async function rpc(server: TestGateway, method: string, params?: object, init: RequestInit = {}) {
  const response = await post(server, { method, ...(params && { params }) }, init)
  expect(response.status).toBe(200)
  return RpcResponse.parse(await response.json())
}

export async function result(server: TestGateway, method: string, params?: object) {
  const { result, error } = await rpc(server, method, params)
  expect(error).toBeUndefined()
  return result as Record<string, unknown>
}

export async function create(server: TestGateway, params: object = {}): Promise<string> {
  const { sessionId } = await result(server, 'session.create', {
    path: server.root,
    cli_type: 'talker',
    ...params,
  })
  return String(sessionId)
}

export async function open(
  server: TestGateway,
  sessionId: string,
  message: string,
  init: RequestInit & { path?: string } = {},
): Promise<StreamReader> {
  const response = await post(server, { method: 'session.send', params: { sessionId, message } }, init)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  return new StreamReader(response)
}

/** A whole exchange. */
export async function exchange(server: TestGateway, sessionId: string, message: string): Promise<unknown[]> {
  return told(await (await open(server, sessionId, message)).whole())
}

/** What a stream said, `[DONE]` included. Each message has to fit the schema of this face. */
export function told(stream: string): unknown[] {
  const lines = stream.split('\n').filter((line) => line.startsWith('data: '))
  return lines.map((line) => {
    const data = line.slice('data: '.length)
    if (data === '[DONE]') return data
    const message: Record<string, unknown> = JSON.parse(data)
    // The transport's own words have no place in the dialect.
    const own = message.type === 'ping' || (message.type === 'error' && message.outcome === undefined)
    if (!own) expect(StreamEvent.safeParse(message).error).toBeUndefined()
    return message
  })
}

export const model = 'claude-sonnet-4-20250514'

export const hello = (nativeSessionId = 'sdk-1'): Cue => ({
  say: { type: 'session.updated', nativeSessionId, model },
})

export const piece = (messageId: string, text: string, wait = false): Cue => ({
  say: { type: 'text.delta', messageId, text },
  wait,
})

export const permission = (requestId: string, command = 'rm x'): Cue => ({
  say: {
    type: 'request.opened',
    requestId,
    kind: 'permission',
    blocking: true,
    tool: 'Bash',
    toolKind: 'execute',
    title: command,
    input: { command },
    options: [],
  },
})
