import { expect, test } from 'vitest'
import { ByteBudget } from '../../../src/reading/byte-budget.ts'
import { call } from '../api.ts'
import { startGateway } from '../start.ts'

test('a page that finds no room in time is refused with 503 and Retry-After, and served when there is room', async () => {
  const pages = new ByteBudget(1, { sleep: async () => undefined })
  await using server = await startGateway({ pages })
  const { body } = await call(server, 'POST /v1/sessions', { body: { agent: 'echo' } })
  const page = `GET /v1/sessions/${body.id}/events?after=0`
  const others = await pages.take(1, new AbortController().signal)
  const refused = await call(server, page)
  expect(refused.status).toBe(503)
  expect(refused.body).toMatchObject({ code: 'overloaded' })
  expect(refused.headers.get('retry-after')).toBe('5')
  others?.release()
  expect((await call(server, page)).status).toBe(200)
})
