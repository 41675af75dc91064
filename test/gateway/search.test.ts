import { expect, test } from 'vitest'
import { call, finished } from './api.ts'
import { script, success, text } from './puppet.ts'
import { GUEST, startGateway } from './start.ts'

test('a search answers with the place and the text around the match, to its principal alone', async () => {
  await using server = await startGateway()
  const long = `${'before '.repeat(20)}the Needle is here${' after'.repeat(60)}`
  const id = await finished(server, script(text('a', long), success))
  const { body } = await call(server, 'GET /v1/search?q=needle%20here&limit=1')
  expect(body).toMatchObject({
    hits: [{ session: id, agent: 'puppet', type: 'text.completed', seq: expect.any(Number) }],
  })
  const [hit] = body.hits as { snippet: string; marks: { start: number; end: number }[] }[]
  expect(hit?.marks.map(({ start, end }) => hit.snippet.slice(start, end))).toEqual(['Needle', 'here'])
  expect(hit?.snippet).toMatch(/^….*the Needle is here.*…$/)
  expect(hit?.snippet.length).toBeLessThan(220)
  expect((await call(server, 'GET /v1/search?q=needle', { token: GUEST })).body).toEqual({
    hits: [],
    complete: true,
  })
})

test.each(['/v1/search', '/v1/search?q=', '/v1/search?q=%20', '/v1/search?q=%25'])(
  '%s is refused',
  async (path) => {
    await using server = await startGateway()
    expect((await call(server, `GET ${path}`)).status).toBe(400)
  },
)
