import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { endpointsOf } from '../../../src/gateway/routes.ts'
import { GUEST, startGateway, type TestGateway, TOKEN, task } from '../start.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(() => server[Symbol.asyncDispose]())

/** A route that needs no token must be named here, with a reason to be open. */
const OPEN = [
  'GET /healthz',
  'GET /readyz',
  // The page holds no data, and asks for a sign-in itself.
  'GET /',
  'GET /assets/:name',
  'POST /v1/sign-in',
]

test('every route requires a token, except health, the page and the sign-in', async () => {
  const routes = endpointsOf(server.deps)
  expect(routes.length).toBeGreaterThan(20)
  const open: string[] = []
  for (const { method, url } of routes) {
    const { auth_token: _, ...body } = task()
    const response = await fetch(server.url + url, {
      method,
      ...(method === 'POST' && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    })
    if (response.status !== 401) open.push(`${method} ${url}`)
  }
  expect(open).toEqual(OPEN)
})

test('paths and methods are not revealed before the token is valid', async () => {
  const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers })
  expect((await get('/nowhere')).status).toBe(401)
  expect((await get('/v1/execute')).status).toBe(401)
  const authorization = `Bearer ${TOKEN}`
  const unknown = await get('/nowhere', { authorization })
  expect(unknown.status).toBe(404)
  expect(await unknown.json()).toMatchObject({ code: 'not_found', status: 404 })
  const wrongMethod = await get('/v1/execute', { authorization })
  expect(wrongMethod.status).toBe(405)
  expect(wrongMethod.headers.get('allow')).toBe('POST')
})

describe('a token', () => {
  test('is accepted in the body or in the header', async () => {
    expect((await server.execute()).status).toBe(200)
    const authorization = `bearer ${TOKEN}`
    const response = await server.execute({ auth_token: undefined }, { headers: { authorization } })
    expect(response.status).toBe(200)
  })

  test('that is wrong, short, long or of another type gets one and the same answer', async () => {
    const wrong = [
      '',
      'x',
      TOKEN.slice(1),
      `${TOKEN}x`,
      'x'.repeat(100_000),
      7,
      null,
      ['a'],
      { token: TOKEN },
    ]
    const answers = await Promise.all(
      // Only the id of a request differs from one to the next.
      wrong.map((auth_token) => server.execute({ auth_token }, { headers: { 'x-request-id': 'same' } })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect(new Set(bodies).size).toBe(1)
    expect(answers[0]?.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('in a wrong header is refused, even with a valid one in the body', async () => {
    for (const authorization of ['Bearer wrong', 'Basic abc', 'Bearer', TOKEN]) {
      expect((await server.execute({}, { headers: { authorization } })).status).toBe(401)
    }
  })

  test('is required before a body is validated', async () => {
    expect((await server.execute({ auth_token: 'wrong', task: 5 })).status).toBe(401)
  })

  test('is not part of the fingerprint: another valid token field is the same request', async () => {
    const bytes = await (await server.execute()).text()
    const authorization = `Bearer ${TOKEN}`
    const again = await server.execute({ auth_token: undefined }, { headers: { authorization } })
    expect(await again.text()).toBe(bytes)
  })
})

test('the same key of two principals identifies two runs', async () => {
  const [owner, guest] = await Promise.all([server.execute(), server.execute({ auth_token: GUEST })])
  expect(owner?.headers.get('mainstem-session')).not.toBe(guest?.headers.get('mainstem-session'))
  const other = await server.execute({
    auth_token: GUEST,
    task: 'not what the owner asked',
    idempotency_key: 'k2',
  })
  expect(other.status).toBe(200)
})

test('without tokens no token is required, and the guard still works', async () => {
  await using open = await startGateway({ tokens: undefined })
  expect((await open.execute({ auth_token: undefined })).status).toBe(200)
  const foreign = await open.execute(
    { auth_token: undefined },
    { headers: { origin: 'http://evil.example' } },
  )
  expect(foreign.status).toBe(403)
})
