import { afterEach, describe, expect, test } from 'vitest'
import type { Phase } from '../../../src/gateway/deps.ts'
import { Problem } from '../../../src/gateway/http/problem.ts'
import { StorageCheck } from '../../../src/gateway/http/storage-check.ts'
import { MainstemError } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { startGateway, type TestGateway, TOKEN } from '../start.ts'
import { refusal } from '../streams/socket.ts'

let server: TestGateway | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
})

const get = (path: string) =>
  fetch(`${server?.url}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })

const failure = () => new MainstemError('storage_failed', '/var/lib/mainstem/mainstem.db: disk is full')

test('a server whose store is not writable is not ready, and reports it without a path', async () => {
  const store = memoryStore()
  store.probe = () => Promise.reject(failure())
  server = await startGateway({ store })
  expect((await get('/healthz')).status).toBe(200)
  const response = await fetch(`${server.url}/readyz`)
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
  const problem = Problem.parse(await response.json())
  expect(problem).toMatchObject({
    code: 'storage_failed',
    detail: expect.stringMatching(/^the store is not writable/),
  })
  expect(JSON.stringify(problem)).not.toContain('/var/lib')
  await get('/readyz')
  expect(server.reported).toEqual([failure()])
  // What can be read is still served.
  expect((await get('/v1/sessions')).status).toBe(200)
})

test('the store is checked at most once a second, and a failure ends with the next success', async () => {
  let now = 0
  let asked = 0
  let fails = true
  const reported: unknown[] = []
  const probe = async () => {
    asked++
    if (fails) throw failure()
  }
  const check = new StorageCheck({ probe, report: (thrown) => reported.push(thrown) }, () => now)
  await expect(Promise.all([check.run(), check.run()])).rejects.toMatchObject({ code: 'storage_failed' })
  now = 999
  await expect(check.run()).rejects.toMatchObject({ code: 'storage_failed' })
  expect(asked).toBe(1)
  now = 1_000
  fails = false
  await check.run()
  await check.run()
  expect(asked).toBe(2)
  fails = true
  now = 2_000
  await expect(check.run()).rejects.toMatchObject({ code: 'storage_failed' })
  expect(reported).toEqual([failure(), failure()])
})

describe('until recovery is complete', () => {
  const phase: { now: Phase } = { now: 'starting' }

  test.each([
    'GET /v1/sessions',
    'GET /v1/agents',
    'POST /v1/sessions',
    'POST /v1/execute',
    'POST /rpc',
    'GET /api/sessions',
    'GET /v1/events',
    'GET /metrics',
    'GET /openapi.json',
    'GET /no-such-path',
    'GET /readyz',
  ])('%s answers 503 with Retry-After', async (route) => {
    server = await startGateway({ phase: () => phase.now })
    const [method = '', path = ''] = route.split(' ')
    const response = await fetch(server.url + path, { method })
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await response.json()).toMatchObject({ code: 'overloaded', detail: 'the server is starting' })
    expect((await get('/healthz')).status).toBe(200)
  })

  test('a WebSocket is refused with 503', async () => {
    server = await startGateway({ phase: () => phase.now })
    expect(await refusal(server, '/ws/sessions/6b0a0a3e-6a50-4a6e-9f6c-1c5b6c1f0d01')).toMatchObject({
      status: 503,
    })
  })
})
