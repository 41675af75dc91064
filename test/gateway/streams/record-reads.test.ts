import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Emitted } from '../../../src/agents/agent.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { begin, call } from '../api.ts'
import { script, success } from '../puppet.ts'
import { startGateway, type TestGateway } from '../start.ts'

const store = memoryStore()
let server: TestGateway
let id = ''
beforeAll(async () => {
  server = await startGateway({ store })
  id = await begin(server)
})
afterAll(() => server[Symbol.asyncDispose]())

const ask = (requestId: string): { say: Emitted } => ({
  say: { type: 'request.opened', requestId, kind: 'permission', blocking: true, tool: 'Bash', options: [] },
})

/** How often one request reads the record of its session, and a receipt. */
async function reads(route: string, options: Parameters<typeof call>[2] = {}) {
  const [record, receipt] = [vi.spyOn(store, 'record'), vi.spyOn(store, 'receipt')]
  const { status } = await call(server, route.replace('ID', id), options)
  expect(status).toBeLessThan(300)
  const counted = [record.mock.calls.length, receipt.mock.calls.length]
  vi.restoreAllMocks()
  return counted
}

test('a session that runs here knows its record, so no request reads it from the store', async () => {
  const routes = [
    'GET /v1/sessions/ID',
    'GET /v1/sessions/ID/events',
    'GET /v1/sessions/ID/coverage',
    'GET /api/sessions/ID',
    'GET /api/sessions/ID/events',
    'POST /v1/sessions/ID/interrupt',
  ]
  for (const route of routes) expect([route, await reads(route)]).toEqual([route, [0, 0]])
})

test('a command with a key reads one receipt, and so does its repetition', async () => {
  const body = { prompt: script(success) }
  const headers = { 'idempotency-key': 'turn' }
  expect(await reads('POST /v1/sessions/ID/turns', { body })).toEqual([0, 0])
  expect(await reads('POST /v1/sessions/ID/turns', { body, headers })).toEqual([0, 1])
  expect(await reads('POST /v1/sessions/ID/turns', { body, headers })).toEqual([0, 1])
})

test('an answer to a request reads nothing; with a key, one receipt', async () => {
  const asking = script(ask('r1'), ask('r2'), { ...success, wait: true })
  const other = await begin(server, { prompt: asking })
  await server.gate.reached()
  const { body } = await call(server, 'GET /v1/requests')
  const [first, second] = body.requests as { request: { requestId: string; inputDigest: string } }[]
  const answer = (request = first, headers = {}) =>
    reads(`POST /v1/sessions/${other}/requests/${request?.request.requestId}`, {
      body: { decision: 'allow', inputDigest: request?.request.inputDigest },
      headers,
    })
  expect(await answer()).toEqual([0, 0])
  expect(await answer(second, { 'idempotency-key': 'answer' })).toEqual([0, 1])
  expect(await answer(second, { 'idempotency-key': 'answer' })).toEqual([0, 1])
  await server.gate.open()
})

test('the record of a running session is the one in the store, after commands and a trim', async () => {
  const id = await begin(server)
  const same = async () => {
    const { body } = await call(server, `GET /v1/sessions/${id}`)
    expect(body).toEqual(JSON.parse(JSON.stringify(await store.record(id))))
  }
  await same()
  const { body } = await call(server, `POST /v1/sessions/${id}/turns`, { body: { prompt: script(success) } })
  await same()
  await server.sessions.get(id)?.settled(Number(body.turn))
  await same()
  await server.sessions.get(id)?.delivered([{ turn: 1, seq: 3, ended: false }])
  await same()
  await server.sessions.trim(id, 2)
  await same()
})

describe('a request to a session that does not run reads its record', () => {
  beforeAll(() => call(server, `POST /v1/sessions/${id}/end`))

  test.each([
    'GET /v1/sessions/ID',
    'GET /v1/sessions/ID/events',
    'GET /v1/sessions/ID/coverage',
    'GET /api/sessions/ID',
    'GET /api/sessions/ID/events',
  ])('once: %s', async (route) => {
    expect(await reads(route)).toEqual([1, 0])
  })

  test('before and after a command that responds with the record', async () => {
    expect(await reads('POST /v1/sessions/ID/interrupt')).toEqual([2, 0])
  })
})
