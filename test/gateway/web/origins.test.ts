import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import { begin, finished } from '../api.ts'
import { script, success, text } from '../puppet.ts'
import { startGateway, type TestGateway, TOKEN } from '../start.ts'

const ORIGIN = 'https://board.example'
let server: TestGateway
beforeAll(async () => {
  server = await startGateway({ origins: [ORIGIN] })
})
afterAll(() => server[Symbol.asyncDispose]())

const AUTH = { authorization: `Bearer ${TOKEN}` }
const foreign = (origin: string) => ({ origin, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' })

const get = (path: string, headers: Record<string, string>) => fetch(server.url + path, { headers })

function opened(path: string, headers: ClientOptions['headers'] = {}): Promise<number | undefined> {
  const socket = new WebSocket(server.url.replace('http', 'ws') + path, { headers })
  return new Promise((resolve) => {
    socket.on('error', () => undefined)
    socket.on('open', () => {
      socket.terminate()
      resolve(101)
    })
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode))
  })
}

describe('an allowed origin', () => {
  test('reads answers with a token, without credentials of the browser', async () => {
    const response = await get('/v1/sessions', { ...AUTH, ...foreign(ORIGIN) })
    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    expect(response.headers.get('vary')).toContain('origin')
  })

  test('reads streams and problems too', async () => {
    const id = await finished(server, script(text('a', 'one'), success))
    const stream = await get(`/v1/sessions/${id}/events`, {
      ...AUTH,
      ...foreign(ORIGIN),
      accept: 'text/event-stream',
    })
    expect(stream.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(await stream.text()).toContain('"one"')
    const problem = await get('/v1/sessions/x', foreign(ORIGIN))
    expect(problem.status).toBe(401)
    expect(problem.headers.get('access-control-allow-origin')).toBe(ORIGIN)
  })

  test('has its preflight answered', async () => {
    const response = await fetch(`${server.url}/v1/sessions`, {
      method: 'OPTIONS',
      headers: { ...foreign(ORIGIN), 'access-control-request-method': 'POST' },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-methods')).toContain('POST')
    const allowed = response.headers.get('access-control-allow-headers')
    for (const header of ['authorization', 'x-mainstem-client']) expect(allowed).toContain(header)
  })

  test('opens a WebSocket with a token, and never with a cookie', async () => {
    const id = await begin(server)
    const path = `/v1/sessions/${id}/events`
    expect(await opened(path, { ...AUTH, ...foreign(ORIGIN) })).toBe(101)
    const signIn = await fetch(`${server.url}/v1/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: TOKEN }),
    })
    const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect(await opened(path, { cookie, origin: ORIGIN })).toBe(401)
    expect(await opened(path, { cookie }), 'a browser always sends an Origin').toBe(401)
    expect(await opened(path, { cookie, origin: server.url })).toBe(101)
  })
})

test.each(['https://board.example.evil', 'http://board.example', 'https://evil.example', 'null'])(
  'the origin %s is refused and reads nothing',
  async (origin) => {
    const response = await get('/v1/sessions', { ...AUTH, ...foreign(origin) })
    expect(response.status).toBe(403)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  },
)
