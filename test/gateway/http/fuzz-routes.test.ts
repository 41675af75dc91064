import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import WebSocket from 'ws'
import * as z from 'zod'
import type { Endpoint } from '../../../src/gateway/http/endpoint.ts'
import { Problem } from '../../../src/gateway/http/problem.ts'
import { endpointsOf } from '../../../src/gateway/routes.ts'
import { runs } from '../../long.ts'
import { fetchFrom, finished } from '../api.ts'
import { script, success } from '../puppet.ts'
import { startGateway, type TestGateway, TOKEN } from '../start.ts'

vi.setConfig({ testTimeout: 120_000 })

/** Nothing here names a route: whatever is in the table is taken from it, with the fields that its schemas know. */
let server: TestGateway
let session: string
beforeAll(async () => {
  server = await startGateway()
  session = await finished(server, script(success))
})
afterAll(() => server[Symbol.asyncDispose]())

const RUNS = runs(5, 25)

/** What is refused is refused as a problem with a code, and nothing is an error of ours. */
async function expectOrder(response: Response): Promise<void> {
  expect(response.status).toBeLessThan(500)
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') ?? false
  if (response.status < 400 || response.headers.get('content-length') === '0') await response.body?.cancel()
  else {
    expect(isProblem).toBe(true)
    expect(Problem.parse(await response.json()).status).toBe(response.status)
  }
  expect(server.reported).toEqual([])
}

const values = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e400',
    'mainstem',
    '\0',
    '../..',
    '--x',
    'a'.repeat(5_000),
    2 ** 53,
    -1,
    [],
    {},
  ),
)
const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom('0', '1', '12', '-1', '99999999999999999999', 'mainstem', 'tool.started', 'x,y', '%00'),
)

function fieldsOf(schema: z.ZodType | undefined): string[] {
  const json = schema && z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const shapes = [json, ...(json?.anyOf ?? []), ...(json?.oneOf ?? [])]
  return shapes.flatMap((shape) => (typeof shape === 'object' ? Object.keys(shape.properties ?? {}) : []))
}

function pathOf({ url }: Endpoint, part: string): string {
  return url.replaceAll(/:\w+/g, () => encodeURIComponent(part))
}

async function ask(endpoint: Endpoint, part: string, body: unknown, query: [string, string][], headers = {}) {
  const hasBody = endpoint.method === 'POST' && body !== undefined
  const search = query.length === 0 ? '' : `?${new URLSearchParams(query)}`
  const route = `${endpoint.method} ${pathOf(endpoint, part)}${search}`
  await expectOrder(await fetchFrom(server, route, { headers, ...(hasBody && { body }) }))
}

test('every route takes or refuses any body, query and path in order', async () => {
  const endpoints = endpointsOf(server.deps)
  expect(endpoints.length).toBeGreaterThan(20)
  for (const endpoint of endpoints) {
    const known = fieldsOf(endpoint.body)
    const names = fc.constantFrom(...known, '__proto__', 'constructor', 'x')
    const body = fc.oneof(fc.dictionary(names, values, { maxKeys: 6 }), values)
    const queries = fc.constantFrom(...fieldsOf(endpoint.query), 'x', '__proto__')
    const query = fc.array(fc.tuple(queries, texts), { maxLength: 3 })
    // Only what is found may be deleted, and then it would be found no more.
    const part = endpoint.method === 'DELETE' ? texts : fc.oneof(texts, fc.constant(session))
    await fc.assert(
      fc.asyncProperty(
        part.map((text) => text || '-'),
        body,
        query,
        (...drawn) => ask(endpoint, ...drawn),
      ),
      { numRuns: RUNS },
    )
  }
})

test('every route takes or refuses any header in order', async () => {
  const names = [
    'last-event-id',
    'accept',
    'idempotency-key',
    'content-type',
    'authorization',
    'origin',
    'range',
  ]
  const name = fc.constantFrom(...names, 'if-none-match', 'content-encoding', 'sec-fetch-site')
  const value = fc.string({ unit: fc.constantFrom(...'aZ09 .:/,;="{}[]*-_~'), minLength: 1, maxLength: 20 })
  for (const endpoint of endpointsOf(server.deps).filter(({ method }) => method !== 'DELETE')) {
    await fc.assert(
      fc.asyncProperty(name, value, (header, text) => ask(endpoint, session, {}, [], { [header]: text })),
      { numRuns: RUNS },
    )
  }
})

test('every route that can be a WebSocket survives any frames', async () => {
  const sockets = endpointsOf(server.deps).filter(({ socket }) => socket !== undefined)
  const frame = fc.oneof(fc.string(), fc.json(), fc.uint8Array({ maxLength: 300 }))
  for (const endpoint of sockets) {
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 5 }), (frames) =>
        sendFrames(pathOf(endpoint, session), frames),
      ),
      { numRuns: RUNS },
    )
  }
  expect((await fetchFrom(server, 'GET /healthz')).status).toBe(200)
  expect(server.reported).toEqual([])
})

/** Settles when the socket is closed, by whichever side. */
function sendFrames(path: string, frames: readonly (string | Uint8Array)[]): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  })
  return new Promise((resolve) => {
    socket.on('error', () => resolve())
    socket.on('close', () => resolve())
    socket.on('open', () => {
      for (const frame of frames) socket.send(frame)
      socket.close()
    })
  })
}
