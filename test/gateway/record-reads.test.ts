import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { memoryStore } from '../../src/stores/memory.ts'
import { begin, call } from './api.ts'
import { script, success } from './puppet.ts'
import { startGateway, type TestGateway } from './start.ts'

const store = memoryStore()
let server: TestGateway
let id = ''
beforeAll(async () => {
  server = await startGateway({ store })
  id = await begin(server)
})
afterAll(() => server[Symbol.asyncDispose]())

/** How often one request reads the record of its session, and a receipt. */
async function reads(route: string, options: Parameters<typeof call>[2] = {}) {
  const [record, receipt] = [vi.spyOn(store, 'record'), vi.spyOn(store, 'receipt')]
  const { status } = await call(server, route.replace('ID', id), options)
  expect(status).toBeLessThan(300)
  const counted = [record.mock.calls.length, receipt.mock.calls.length]
  vi.restoreAllMocks()
  return counted
}

describe('one request reads the record', () => {
  test.each([
    'GET /v1/sessions/ID',
    'GET /v1/sessions/ID/events',
    'GET /v1/sessions/ID/coverage',
    'GET /api/sessions/ID',
    'GET /api/sessions/ID/events',
  ])('once: %s', async (route) => {
    expect(await reads(route)).toEqual([1, 0])
  })

  test('once to send a prompt; with a key a second time, and the receipt before and after', async () => {
    const body = { prompt: script(success) }
    const headers = { 'idempotency-key': 'turn' }
    expect(await reads('POST /v1/sessions/ID/turns', { body })).toEqual([1, 0])
    expect(await reads('POST /v1/sessions/ID/turns', { body, headers })).toEqual([2, 2])
    expect(await reads('POST /v1/sessions/ID/turns', { body, headers })).toEqual([2, 1])
  })

  test('before and after a command that responds with the record', async () => {
    expect(await reads('POST /v1/sessions/ID/interrupt')).toEqual([2, 0])
  })
})
