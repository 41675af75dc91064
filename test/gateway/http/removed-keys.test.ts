import { rmSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryStore } from '../../../src/stores/memory.ts'
import { sqliteStore } from '../../../src/stores/sqlite.ts'
import type { Store } from '../../../src/stores/store.ts'
import { newDirectory } from '../../stores/sqlite-parts.ts'
import { begin, fetchFrom } from '../api.ts'
import { script, success } from '../puppet.ts'
import { startGateway, type TestGateway } from '../start.ts'

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true })
})

const STORES: readonly [string, () => Promise<Store>][] = [
  ['memory', async () => memoryStore()],
  [
    'sqlite',
    () => {
      const directory = newDirectory()
      directories.push(directory)
      return sqliteStore({ directory })
    },
  ],
]

const prompt = script(success)
const keyed = { 'idempotency-key': 'k' }

/** A route that takes a key: what is sent for a session that exists, and where the session's id is in the answer. */
interface Route {
  name: string
  path(session: string): string
  body(session: string): object
  sessionOf(response: Response): Promise<string>
}

const fromBody = async (response: Response) => String(Reflect.get(Object(await response.json()), 'id'))

const BEGINNING: readonly Route[] = [
  {
    name: 'a session',
    path: () => '/v1/sessions',
    body: () => ({ agent: 'puppet', prompt }),
    sessionOf: fromBody,
  },
  {
    name: 'a session of the board',
    path: () => '/api/sessions',
    body: () => ({ agentId: 'puppet', prompt }),
    sessionOf: fromBody,
  },
  {
    name: 'a task',
    path: () => '/v1/execute',
    body: () => ({ idempotency_key: 'k', driver: 'puppet', task: prompt }),
    async sessionOf(response) {
      await response.text()
      return response.headers.get('mainstem-session') ?? ''
    },
  },
]

const GOING_ON: readonly Route[] = [
  {
    name: 'a turn',
    path: (session) => `/v1/sessions/${session}/turns`,
    body: () => ({ prompt }),
    sessionOf: async () => '',
  },
  {
    name: 'a turn of the board',
    path: () => '/api/sessions',
    body: (session) => ({ agentType: 'puppet', prompt, sessionId: session }),
    sessionOf: fromBody,
  },
]

async function post(server: TestGateway, route: Route, session = ''): Promise<Response> {
  const body = route.body(session)
  // A task has its key in the body.
  const headers = 'idempotency_key' in body ? {} : keyed
  return fetchFrom(server, `POST ${route.path(session)}`, { headers, body })
}

async function expectRemoved(response: Response): Promise<void> {
  expect(response.headers.get('idempotent-replayed')).toBeNull()
  expect([response.status, await response.json()]).toMatchObject([404, { code: 'session_not_found' }])
}

describe.each(STORES)('with the %s store, after DELETE of its session', (_, open) => {
  test.each(BEGINNING)('the key of $name is kept, and a retry begins no other session', async (route) => {
    await using store = await open()
    await using server = await startGateway({ store })
    const first = await post(server, route)
    expect(first.ok).toBe(true)
    const id = await route.sessionOf(first)
    expect((await fetchFrom(server, `DELETE /v1/sessions/${id}`)).status).toBe(204)
    await expectRemoved(await post(server, route))
    expect(await server.sessions.records({ limit: 9 })).toEqual([])
  })

  test.each(GOING_ON)('the key of $name is kept, and a retry runs nothing', async (route) => {
    await using store = await open()
    await using server = await startGateway({ store })
    const id = await begin(server, { agent: 'puppet' })
    expect((await post(server, route, id)).ok).toBe(true)
    expect((await fetchFrom(server, `DELETE /v1/sessions/${id}`)).status).toBe(204)
    await expectRemoved(await post(server, route, id))
    expect(await server.sessions.records({ limit: 9 })).toEqual([])
  })

  test('a reader that comes back to a task learns that it was removed', async () => {
    await using store = await open()
    await using server = await startGateway({ store })
    const body = { idempotency_key: 'k', driver: 'puppet', task: prompt }
    const first = await fetchFrom(server, 'POST /v1/execute', { body })
    await first.text()
    await fetchFrom(server, `DELETE /v1/sessions/${first.headers.get('mainstem-session')}`)
    await expectRemoved(
      await fetchFrom(server, 'POST /v1/execute', { body, headers: { 'last-event-id': '3' } }),
    )
  })

  test('another body under the key is still refused as that', async () => {
    await using store = await open()
    await using server = await startGateway({ store })
    const send = (agent: string) =>
      fetchFrom(server, 'POST /v1/sessions', { headers: keyed, body: { agent } })
    const id = await fromBody(await send('echo'))
    await fetchFrom(server, `DELETE /v1/sessions/${id}`)
    expect((await send('puppet')).status).toBe(422)
  })
})
