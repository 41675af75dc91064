import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpointsOf } from '../../../src/gateway/routes.ts'
import { runs } from '../../long.ts'
import { fetchFrom, finished } from '../api.ts'
import { script, success } from '../puppet.ts'
import { startGateway, type TestGateway } from '../start.ts'

let server: TestGateway
let session: string
beforeAll(async () => {
  server = await startGateway()
  session = await finished(server, script(success))
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const endpoints = () => endpointsOf(server.deps).filter(({ url }) => url !== '/v1/events')

const ORDERLY = [200, 201, 202, 204, 400, 401, 403, 404, 409, 410, 415, 422, 426]

async function expectOrder(response: Response, orderly = ORDERLY): Promise<void> {
  expect(orderly).toContain(response.status)
  await response.body?.cancel()
}

/** A path with something in place of each of its parts. */
const pathOf = (url: string, part: string) => url.replaceAll(/:\w+/g, () => encodeURIComponent(part))

test('any body gets a valid response on every route', async () => {
  const posts = endpoints().filter(({ method }) => method === 'POST')
  expect(posts.length).toBeGreaterThan(8)
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...posts), fc.jsonValue(), async ({ url }, body) => {
      await expectOrder(await fetchFrom(server, `POST ${pathOf(url, session)}`, { body }))
    }),
    { numRuns: runs(30, 300) },
  )
})

test('bodies with known fields get a valid response', async () => {
  const names = [
    'agent',
    'prompt',
    'policy',
    'options',
    'model',
    'mode',
    'decision',
    'inputDigest',
    'agentId',
    'agentType',
    'projectId',
    'sessionId',
    'config',
    '__proto__',
    'constructor',
  ]
  const body = fc.dictionary(fc.constantFrom(...names), fc.jsonValue())
  const posts = endpoints().filter(({ method }) => method === 'POST')
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...posts), body, async ({ url }, body) => {
      await expectOrder(await fetchFrom(server, `POST ${pathOf(url, session)}`, { body }))
    }),
    { numRuns: runs(30, 300) },
  )
})

test('paths of any kind are refused in order', async () => {
  const withParts = endpoints().filter(({ url }) => url.includes(':'))
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...withParts),
      fc.oneof({ weight: 9, arbitrary: fc.string({ minLength: 1 }) }, fc.constantFrom('.', '..')),
      async ({ method, url }, part) => {
        // Dots alone are folded away by whoever asks, and the path that is left may take another method.
        const orderly = /^\.{1,2}$/.test(part) ? [...ORDERLY, 405] : ORDERLY
        await expectOrder(await fetchFrom(server, `${method} ${pathOf(url, part)}`), orderly)
      },
    ),
    { numRuns: runs(20, 200) },
  )
})

test('any query gets a valid response', async () => {
  const names = fc.constantFrom(
    'after',
    'types',
    'dialect',
    'limit',
    'raw',
    'before',
    'status',
    'asking',
    'offset',
    'x',
    'ticket',
  )
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom('0', '1', '12', '9999999999', 'mainstem', 'tool.started'),
  )
  const query = fc.array(fc.tuple(names, value), { maxLength: 4 })
  const gets = endpoints().filter(({ method }) => method === 'GET')
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...gets), query, async ({ url }, pairs) => {
      await expectOrder(await fetchFrom(server, `GET ${pathOf(url, session)}?${new URLSearchParams(pairs)}`))
    }),
    { numRuns: runs(30, 300) },
  )
})

test('any header gets a valid response', async () => {
  const name = fc.constantFrom('last-event-id', 'accept', 'idempotency-key', 'content-type', 'authorization')
  const value = fc.string({ unit: fc.constantFrom(...'aZ09 .:/,;="{}[]*-_~'), minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...endpoints()), name, value, async ({ method, url }, header, text) => {
      if (method === 'DELETE') return
      const headers = { [header]: text }
      await expectOrder(await fetchFrom(server, `${method} ${pathOf(url, session)}`, { headers }))
    }),
    { numRuns: runs(30, 300) },
  )
})
