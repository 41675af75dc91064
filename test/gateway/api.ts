import { expect } from 'vitest'
import { Problem } from '../../src/gateway/http/problem.ts'
import { endpointsOf } from '../../src/gateway/routes.ts'
import { type TestGateway, TOKEN } from './start.ts'
import { parseEvents } from './streams/sse.ts'

export interface CallOptions {
  token?: string
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

export interface Answer {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

/** Calls a route and leaves the answer as it comes. */
export function fetchFrom(
  server: TestGateway,
  call: string,
  { token = TOKEN, body, headers, signal }: CallOptions = {},
): Promise<Response> {
  const [method = '', path = ''] = call.split(' ')
  return fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
}

/** Calls a route that answers with JSON. Whatever comes must fit the schema that the reference shows for it. */
export async function call(server: TestGateway, route: string, options: CallOptions = {}): Promise<Answer> {
  const response = await fetchFrom(server, route, options)
  const { status, headers } = response
  const text = await response.text()
  const body = text === '' ? {} : JSON.parse(text)
  if (status >= 400) {
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(Problem.parse(body).status).toBe(status)
  } else if (status !== 204) {
    const { answers, status: expected = 200 } = endpointOf(server, route)
    expect(answers?.['application/json']?.safeParse(body).error).toBeUndefined()
    expect(status).toBe(expected)
  }
  return { status, headers, body }
}

function endpointOf(server: TestGateway, route: string) {
  const [method, path = ''] = route.split(' ')
  const found = endpointsOf(server.deps).find(
    (one) =>
      one.method === method &&
      new RegExp(`^${one.url.replaceAll(/:\w+/g, '[^/]+')}$`).test(path.split('?')[0] ?? ''),
  )
  if (!found) throw new Error(`there is no route ${route}`)
  return found
}

/** A session of the puppet's, with a first prompt if there is one. */
export async function begin(
  server: TestGateway,
  body: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<string> {
  const created = await call(server, 'POST /v1/sessions', { ...options, body: { agent: 'puppet', ...body } })
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  return String(created.body.id)
}

/** A log that is over: begun, run to its end, and ended. */
export async function finished(server: TestGateway, prompt: string, more: object = {}): Promise<string> {
  const id = await begin(server, { prompt, ...more })
  await server.sessions.get(id)?.ended(1)
  await call(server, `POST /v1/sessions/${id}/end`)
  return id
}

export const SSE = { accept: 'text/event-stream' }
export const NDJSON = { accept: 'application/x-ndjson' }

export async function streamed(server: TestGateway, path: string, headers: Record<string, string> = {}) {
  const response = await fetchFrom(server, `GET ${path}`, { headers: { ...SSE, ...headers } })
  expect(response.status).toBe(200)
  return parseEvents(await response.text())
}
