import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendRaw, statusOf } from '../raw.ts'
import { startGateway, type TestGateway, TOKEN, task } from '../start.ts'

let server: TestGateway
beforeAll(async () => {
  server = await startGateway({ hosts: ['127.0.0.1', 'localhost', '[::1]', 'agents.example'] })
})
afterAll(() => server[Symbol.asyncDispose]())

interface Sent {
  start?: string
  headers: string[]
}

/** A whole and valid task, but for its request line and headers. */
async function ask({ start = 'POST /v1/execute HTTP/1.1', headers }: Sent): Promise<string> {
  const body = JSON.stringify(task())
  const common = ['content-type: application/json', `content-length: ${body.length}`, 'connection: close']
  return sendRaw(server.port, `${[start, ...headers, ...common].join('\r\n')}\r\n\r\n${body}`)
}

function expectForbidden(response: string): void {
  expect(statusOf(response)).toBe(403)
  expect(response).toContain('application/problem+json')
  expect(response).toContain('"code":"forbidden"')
  expect(response.toLowerCase()).not.toContain('access-control')
}

describe('a Host', () => {
  test.each(['127.0.0.1', '127.0.0.1:1', 'localhost', 'LOCALHOST:7380', '[::1]:7380', 'agents.example'])(
    '%s is known',
    async (host) => {
      expect(statusOf(await ask({ headers: [`host: ${host}`] }))).toBe(200)
    },
  )

  test.each([
    'evil.example',
    'localhost.',
    'localhost.evil.example',
    '127.0.0.1.nip.io',
    '127.0.0.1.',
    '127.1',
    '0.0.0.0',
    '[::ffff:127.0.0.1]',
    '[::]',
    'localhost:',
    'localhost:x',
    'user@localhost',
    'localhost, evil.example',
    'localhost evil.example',
    '',
  ])('%j is refused', async (host) => {
    expectForbidden(await ask({ headers: [`host: ${host}`] }))
  })

  test('that is missing is refused, on every version of HTTP', async () => {
    expectForbidden(await ask({ headers: [] }))
    expectForbidden(await ask({ start: 'POST /v1/execute HTTP/1.0', headers: [] }))
  })

  test('that comes twice is refused, even when both are known', async () => {
    expectForbidden(await ask({ headers: ['host: localhost', 'host: evil.example'] }))
    expectForbidden(await ask({ headers: ['host: localhost', 'Host: localhost'] }))
  })

  test('in the request line must be known too', async () => {
    const absolute = (authority: string) =>
      ask({ start: `POST http://${authority}/v1/execute HTTP/1.1`, headers: ['host: localhost'] })
    expectForbidden(await absolute('evil.example'))
    expectForbidden(await absolute('localhost@evil.example'))
    expectForbidden(await absolute(''))
    expect(statusOf(await absolute('localhost'))).toBe(200)
  })

  test('is checked before anybody is asked for a token, on every route and on none', async () => {
    for (const path of [
      ...server.deps.hosts.map(() => '/healthz'),
      '/readyz',
      '/v1/execute',
      '/nowhere',
      '*',
    ]) {
      for (const method of ['GET', 'POST', 'OPTIONS', 'HEAD', 'DELETE']) {
        const response = await sendRaw(
          server.port,
          `${method} ${path} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`,
        )
        expect(statusOf(response), `${method} ${path}`).toBe(403)
      }
    }
  })
})

describe('an Origin', () => {
  const from = (...headers: string[]) => ask({ headers: ['host: localhost:7380', ...headers] })

  test.each([
    'http://evil.example',
    'http://localhost:3000',
    'http://127.0.0.1:7380',
    'http://localhost',
    'file://',
    'chrome-extension://abc',
    'null',
    'localhost:7380',
    '',
  ])('%j is another one', async (origin) => {
    expectForbidden(await from(`origin: ${origin}`))
  })

  test('that equals a Host which is not ours is refused', async () => {
    expectForbidden(await ask({ headers: ['host: evil.example', 'origin: http://evil.example'] }))
  })

  test('of our own page is accepted, and so is none', async () => {
    expect(statusOf(await from('origin: http://localhost:7380'))).toBe(200)
    expect(statusOf(await from())).toBe(200)
  })

  test('is not needed to know a foreign page', async () => {
    expectForbidden(await from('sec-fetch-site: cross-site'))
    expectForbidden(await from('sec-fetch-site: same-site'))
    expect(statusOf(await from('sec-fetch-site: same-origin'))).toBe(200)
    expect(statusOf(await from('sec-fetch-site: none'))).toBe(200)
  })

  test('is never granted anything by a preflight', async () => {
    const response = await sendRaw(
      server.port,
      'OPTIONS /v1/execute HTTP/1.1\r\nhost: localhost\r\norigin: http://evil.example\r\naccess-control-request-method: POST\r\nconnection: close\r\n\r\n',
    )
    expectForbidden(response)
  })
})

test.each(['token', 'auth_token', 'access_token'])('a %s in the URL is refused', async (name) => {
  const response = await server.execute({}, { path: `/v1/execute?${name}=${TOKEN}` })
  expect(response.status).toBe(400)
  const problem = await response.text()
  expect(JSON.parse(problem)).toMatchObject({ field: name })
  expect(problem).not.toContain(TOKEN)
})
