import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway, TOKEN, task } from '../start.ts'

let server: TestGateway
beforeAll(async () => {
  server = await startGateway()
})
afterAll(() => server[Symbol.asyncDispose]())

const PROBLEMS = [400, 401, 403, 404, 413, 415, 422]

async function expectRefusal(body: string | Uint8Array<ArrayBuffer>): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` }
  const response = await fetch(`${server.url}/v1/execute`, { method: 'POST', headers, body })
  expect(PROBLEMS).toContain(response.status)
  expect(await response.json()).toMatchObject({ status: response.status })
}

test('bytes of any kind are refused in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), (bytes) => expectRefusal(new Uint8Array(bytes))),
  )
})

test('JSON of any shape is refused in order', async () => {
  await fc.assert(fc.asyncProperty(fc.jsonValue(), (value) => expectRefusal(JSON.stringify(value))))
})

test('a task with any one field replaced is refused in order, or runs', async () => {
  const field = fc.constantFrom(...Object.keys({ ...task(), model: 0, mode: 0, cwd: 0, policy: 0 }))
  let count = 0
  await fc.assert(
    fc.asyncProperty(field, fc.jsonValue(), async (name, value) => {
      const response = await server.execute({ idempotency_key: `fuzz${++count}`, [name]: value })
      expect([200, ...PROBLEMS]).toContain(response.status)
      await response.text()
    }),
  )
  expect(server.reported).toEqual([])
})

test('headers of any kind are refused in order', async () => {
  const name = fc.constantFrom(
    'last-event-id',
    'authorization',
    'origin',
    'content-encoding',
    'sec-fetch-site',
  )
  const value = fc.string({ unit: fc.constantFrom(...'aZ09 .:/,;="{}[]-_~'), minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(name, value, async (header, text) => {
      const response = await server.execute({}, { headers: { [header]: text } })
      expect([200, ...PROBLEMS]).toContain(response.status)
      await response.text()
    }),
  )
  expect(server.reported).toEqual([])
})
