import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import type { Endpoint } from '../../../src/gateway/http/endpoint.ts'
import { endpointsOf } from '../../../src/gateway/routes.ts'
import { begin, call, fetchFrom } from '../api.ts'
import { script, success } from '../puppet.ts'
import { startGateway, type TestGateway } from '../start.ts'

let server: TestGateway
beforeAll(async () => {
  server = await startGateway()
})
afterAll(() => server[Symbol.asyncDispose]())

/** The length for a parameter whose schema has no limit: the longest limit in the table. */
const UNLIMITED = 512

/** One character each: as it is, as one escaped byte, and as the most escaped bytes that a UTF-16 unit can need. */
const CHARACTERS = ['a', '/', '\u20ac']

function longest({ params }: Endpoint, name: string): number {
  const { properties = {} } = z.toJSONSchema(params, { io: 'input' })
  const property = properties[name]
  return (typeof property === 'object' ? property.maxLength : undefined) ?? UNLIMITED
}

test('every route accepts the longest value that the schema of each path parameter allows', async () => {
  const routes = endpointsOf(server.deps).filter(({ url }) => url.includes(':'))
  expect(routes.length).toBeGreaterThan(10)
  for (const route of routes) {
    for (const character of CHARACTERS) {
      const path = route.url.replaceAll(/:(\w+)/g, (_, name: string) =>
        encodeURIComponent(character.repeat(longest(route, name))),
      )
      const body = route.method === 'POST' ? {} : undefined
      const response = await fetchFrom(server, `${route.method} ${path}`, { body })
      await response.body?.cancel()
      // Not 414 or 431: the schema or the handler answers (426 on a route that is only a WebSocket).
      expect([400, 404, 426], `${route.method} ${route.url} with ${character}`).toContain(response.status)
    }
  }
})

test('a request whose id has the longest allowed length can be answered', async () => {
  const requestId = '\u20ac'.repeat(512)
  const say = {
    type: 'request.opened' as const,
    requestId,
    kind: 'permission' as const,
    blocking: true,
    tool: 'Bash',
    input: { command: 'ls' },
    options: [],
  }
  const id = await begin(server, { prompt: script({ say }, { ...success, wait: true }) })
  await server.gate.reached()
  const { body } = await call(server, `GET /v1/sessions/${id}`)
  const [request] = body.requests as { inputDigest: string }[]
  const answer = { decision: 'allow', inputDigest: request?.inputDigest }
  const path = `/v1/sessions/${id}/requests/${encodeURIComponent(requestId)}`
  expect((await call(server, `POST ${path}`, { body: answer })).status).toBe(200)
  expect((await call(server, `POST ${path}x`, { body: answer })).status).toBe(400)
  await server.gate.open()
})
