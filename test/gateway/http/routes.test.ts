import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpointsOf } from '../../../src/gateway/routes.ts'
import { sendRaw, statusOf } from '../raw.ts'
import { startGateway, type TestGateway, TOKEN } from '../start.ts'

let server: TestGateway
beforeAll(async () => {
  server = await startGateway({
    limits: { bodyBytes: 2_000, imageBytes: 2_000, jsonDepth: 8, connections: 100 },
  })
})
afterAll(() => server[Symbol.asyncDispose]())

const table = await (async () => {
  await using gateway = await startGateway()
  return endpointsOf(gateway.deps).map(({ method, url, auth = 'header' }) => ({ method, url, auth }))
})()
const routes = table.map(({ method, url }) => [method, url.replaceAll(/:\w+/g, 'x')] as const)
const posts = routes.filter(([method]) => method === 'POST')

/** Open to everybody: health, the page, which holds no data, and the way to sign in. */
const OPEN = ['/healthz', '/readyz', '/', '/assets/x', '/v1/sign-in']

interface Sent {
  headers?: readonly string[]
  body?: string
}

/** How JSON-RPC says that a body is none. */
const PARSE_ERROR = '"code":-32700'

/** The status of an answer, which has to be a problem of ours, or the same in the words of JSON-RPC. */
async function refused(method: string, url: string, { headers = [], body }: Sent): Promise<number> {
  const length = body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`]
  const head = [`${method} ${url} HTTP/1.1`, ...headers, ...length, 'connection: close']
  const response = await sendRaw(server.port, `${head.join('\r\n')}\r\n\r\n${body ?? ''}`)
  if (response.includes(PARSE_ERROR)) return 400
  expect(response, `${method} ${url}`).toContain('application/problem+json')
  return statusOf(response)
}

const HOST = 'host: localhost'
const AUTH = `authorization: Bearer ${TOKEN}`
const JSON_TYPE = 'content-type: application/json'

test('the table has every route there is, and each is registered from it', () => {
  expect(routes.length).toBeGreaterThan(25)
  const folder = join(import.meta.dirname, '../../../src/gateway')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  const registering = files.filter((name) =>
    /\bapp\s*\.\s*(?:route|get|post|put|patch|delete|head|options|all)\b/.test(
      readFileSync(join(folder, name), 'utf8'),
    ),
  )
  expect(registering).toEqual(['http/server.ts'])
})

describe.each(routes)('%s %s', (method, url) => {
  test('turns away a Host that is not ours, and a foreign Origin, before anything else', async () => {
    expect(await refused(method, url, { headers: ['host: evil.example', AUTH] })).toBe(403)
    expect(await refused(method, url, { headers: [] })).toBe(403)
    expect(await refused(method, url, { headers: [HOST, AUTH, 'origin: http://evil.example'] })).toBe(403)
  })
})

describe.each(routes.filter(([, url]) => !OPEN.includes(url)))('%s %s', (method, url) => {
  test('asks for a token', async () => {
    const body = method === 'POST' ? '{}' : undefined
    for (const token of [[], ['authorization: Bearer wrong'], ['authorization: Basic x']]) {
      const sent = { headers: [HOST, ...token, JSON_TYPE], ...(body !== undefined && { body }) }
      expect(await refused(method, url, sent)).toBe(401)
    }
  })
})

describe.each(posts)('%s %s with a token', (method, url) => {
  const post = (body: string, type = JSON_TYPE) => refused(method, url, { headers: [HOST, AUTH, type], body })

  test('takes JSON only', async () => {
    expect(await post('{}', 'content-type: text/plain')).toBe(415)
    expect(await post('a=b', 'content-type: application/x-www-form-urlencoded')).toBe(415)
  })

  test('takes no body that is too large, too deep, or no JSON', async () => {
    expect(await post(JSON.stringify({ text: 'x'.repeat(3_000) }))).toBe(413)
    expect(await post(`${'['.repeat(20)}${']'.repeat(20)}`)).toBe(400)
    expect(await post('{')).toBe(400)
  })
})
