import { expect, test } from 'vitest'
import { StreamQuota } from '../../../src/gateway/streams/stream-quota.ts'
import { begin, call, fetchFrom, SSE } from '../api.ts'
import { script, success, text } from '../puppet.ts'
import { startGateway } from '../start.ts'

const waiting = script(text('m', 'one'), { ...success, wait: true })

test('a full queue rejects prompts with a retry delay', async () => {
  await using server = await startGateway({ maxQueue: 2 })
  const id = await begin(server, { prompt: waiting })
  await server.gate.reached()
  const post = () => call(server, `POST /v1/sessions/${id}/turns`, { body: { prompt: script(success) } })
  expect([(await post()).status, (await post()).status]).toEqual([202, 202])
  const refused = await post()
  expect(refused).toMatchObject({ status: 503, body: { code: 'overloaded', retryAfter: 30 } })
  expect(refused.headers.get('retry-after')).toBe('30')
  expect((await server.sessions.record(id))?.queue).toHaveLength(2)
})

test('a server with all its agents busy rejects prompts with a retry delay', async () => {
  await using server = await startGateway({ maxProcesses: 1 })
  await begin(server, { prompt: waiting })
  await server.gate.reached()
  const refused = await call(server, 'POST /v1/sessions', { body: { agent: 'puppet', prompt: waiting } })
  expect(refused).toMatchObject({ status: 503, body: { code: 'overloaded', retryAfter: 5 } })
  expect(refused.headers.get('retry-after')).toBe('5')
  expect((await call(server, 'GET /v1/sessions')).body.sessions).toHaveLength(1)
})

test('a principal with all its streams open is rejected with a retry delay', async () => {
  await using server = await startGateway({ streams: new StreamQuota(1) })
  const id = await begin(server)
  await using held = new AsyncDisposableStack()
  const leave = new AbortController()
  held.defer(() => leave.abort())
  const path = `GET /v1/sessions/${id}/events`
  const open = await fetchFrom(server, path, { headers: SSE, signal: leave.signal })
  expect(open.status).toBe(200)
  for (const route of [path, `GET /v1/sessions/${id}/export`, 'GET /v1/events']) {
    const refused = await call(server, route, { headers: SSE })
    expect(refused).toMatchObject({ status: 503, body: { code: 'overloaded' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  // Held until here: a response that nobody has is collected as garbage, and its stream with it.
  expect(open.bodyUsed).toBe(false)
})

test.each(['starting', 'draining'] as const)(
  'a server that is %s responds with a retry delay',
  async (phase) => {
    await using server = await startGateway({ phase: () => phase })
    const refused = await call(server, 'POST /v1/sessions', { body: { agent: 'echo' } })
    expect(refused.status).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  },
)
