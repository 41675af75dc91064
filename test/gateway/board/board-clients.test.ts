import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { call, fetchFrom } from '../api.ts'
import { script, success, text } from '../puppet.ts'
import { startGateway, type TestGateway, TOKEN } from '../start.ts'
import { SocketReader, wholeSocket } from '../streams/socket.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const WAITING = script(text('a', 'one'), { ...text('b', 'two'), wait: true }, success)

const post = (body: unknown, path = '') => call(server, `POST /api/sessions${path}`, { body })
const board = async (prompt = script(text('m', 'hello'), success)) => {
  const id = String((await post({ agentId: 'puppet', prompt })).body.id)
  return { id, settled: server.sessions.get(id)?.settled(1) }
}

describe('a client that writes null for what is absent', () => {
  const nulls = {
    projectId: null,
    workingDirectory: null,
    model: null,
    approvalMode: null,
    sandboxMode: null,
    allowedTools: null,
    blockedTools: null,
    maxTurns: null,
  }

  test.each([
    ['of the board', { agentId: 'echo', projectId: null, prompt: 'x' }],
    ['unified', { agentType: 'echo', prompt: 'x', sessionId: null, config: null }],
    ['unified, with a configuration', { agentType: 'echo', prompt: 'x', config: nulls }],
  ])('creates a session with a body %s', async (_, body) => {
    const { status, body: answer } = await post(body)
    expect([status, answer]).toEqual([201, { id: expect.any(String), state: 'running' }])
    expect(await server.sessions.record(String(answer.id))).toMatchObject({
      policy: server.deps.policy,
      cwd: server.root,
    })
  })

  test('is refused where the field has to be there', async () => {
    expect(await post({ agentId: 'echo', prompt: null })).toMatchObject({
      status: 400,
      body: { field: 'prompt' },
    })
  })
})

describe('to stop a session', () => {
  test.each<[string, RequestInit]>([
    ['nothing', {}],
    ['an empty object', { headers: { 'content-type': 'application/json' }, body: '{}' }],
    ['an empty form', { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: '' }],
    ['a reason', { headers: { 'content-type': 'application/json' }, body: '{"reason":"too slow"}' }],
  ])('%s is required', async (_, init) => {
    const { id } = await board(WAITING)
    const headers = { authorization: `Bearer ${TOKEN}`, ...init.headers }
    const url = `${server.url}/api/sessions/${id}/cancel`
    const response = await fetch(url, { method: 'POST', ...init, headers })
    expect(await response.json()).toEqual({ id, state: 'cancelled', cancelled: true })
  })

  test('a form with something in it is refused', async () => {
    const { id } = await board(WAITING)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const response = await fetchFrom(server, `POST /api/sessions/${id}/cancel`, { headers, body: 'a=1' })
    expect(response.status).toBe(415)
    expect(await server.sessions.record(id)).toMatchObject({ status: 'busy' })
  })
})

test('a slash behind a path changes nothing', async () => {
  const begun = await fetchFrom(server, 'POST /api/sessions/', { body: { agentId: 'echo', prompt: 'x' } })
  expect(begun.status).toBe(201)
  const { id, settled } = await board()
  await settled
  for (const path of ['', `/${id}`, `/${id}/events?limit=1`]) {
    const [plain, slashed] = await Promise.all(
      [path, path.replace(/(?=\?|$)/, '/')].map(async (one) => {
        const response = await fetchFrom(server, `GET /api/sessions${one}`)
        return [response.status, await response.text()]
      }),
    )
    expect(slashed).toEqual(plain)
    expect(plain?.[0]).toBe(200)
  }
  expect(await wholeSocket(server, `/ws/sessions/${id}/`)).toMatchObject({ code: 1000, reason: 'done' })
})

test('a page of ten thousand is allowed', async () => {
  const { id, settled } = await board()
  await settled
  const { body } = await call(server, `GET /api/sessions/${id}/events?limit=10000`)
  expect(body).toMatchObject({ events: [{ type: 'log' }], offset: 0, limit: 10_000, total: 1 })
})

test('messages of a client on a socket are ignored, and its pings are answered', async () => {
  const { id } = await board(WAITING)
  await server.gate.reached()
  const reader = await new SocketReader(server, `/ws/sessions/${id}`).open()
  reader.socket.send('{"type":"subscribe"}')
  reader.socket.send(Buffer.from([0, 255]))
  reader.socket.ping('still there?')
  const [answer] = await once(reader.socket, 'pong')
  expect(String(answer)).toBe('still there?')
  await server.gate.open()
  expect(await reader.closed).toEqual({ code: 1000, reason: 'done' })
  expect(reader.messages.map(({ type }) => type)).toEqual(['log', 'log'])
})
