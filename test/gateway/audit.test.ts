import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, describe, expect, test } from 'vitest'
import { passCalls } from '../../src/daemon/stdio.ts'
import type { AuditRecord } from '../../src/model/access.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { newSchema } from '../postgres/database.ts'
import { begin, type CallOptions, call, fetchFrom, NDJSON } from './api.ts'
import { ASKS, script, success, text } from './puppet.ts'
import { post, rpc } from './rpc/rpc.ts'
import { GUEST, startGateway, type TestGateway } from './start.ts'
import { talker } from './talker.ts'

const folder = mkdtempSync(join(tmpdir(), 'audit-'))
afterAll(() => rmSync(folder, { recursive: true }))
let stores = 0

const STORES: readonly [string, () => Promise<Store>][] = [
  ['memory', async () => memoryStore()],
  ['sqlite', () => sqliteStore({ directory: join(folder, String(++stores)) })],
  ['postgres', async () => postgresStore({ url: await newSchema() })],
]

const REQUEST = 'request-1'
const AS_GUEST = { token: GUEST, headers: { 'x-request-id': REQUEST } }
const guest = (server: TestGateway, route: string, options: CallOptions = {}) =>
  call(server, route, { ...AS_GUEST, ...options, headers: { ...AS_GUEST.headers, ...options.headers } })

const hello = script(text('m', 'hello'), success)
/** Works until somebody stops it. */
const working = script(text('m', 'hello'), { ...success, wait: true })

const trail = async (server: TestGateway, query = ''): Promise<AuditRecord[]> =>
  (await call(server, `GET /v1/audit?order=oldest${query}`)).body.records as AuditRecord[]

const begun = (server: TestGateway, prompt?: string, agent = 'puppet', more: CallOptions = {}) =>
  begin(server, { agent, ...(prompt !== undefined && { prompt }) }, { ...AS_GUEST, ...more })

/** A turn that waits at the gate. */
async function busy(server: TestGateway, agent?: string): Promise<string> {
  const id = await begun(server, working, agent)
  await server.gate.reached()
  return id
}

async function answered(server: TestGateway, more: CallOptions = {}): Promise<void> {
  const id = await begun(server, ASKS)
  await server.gate.reached()
  const { inputDigest } = (await server.sessions.record(id))?.requests[0] ?? {}
  const body = { decision: 'allow', inputDigest }
  await guest(server, `POST /v1/sessions/${id}/requests/r1`, { ...more, body })
}

const AS_GUEST_RPC = {
  headers: {
    'content-type': 'application/json',
    authorization: `Bearer ${GUEST}`,
    'x-request-id': REQUEST,
  },
}
const method = async (server: TestGateway, name: string, params: object) =>
  (await rpc(server, name, params, AS_GUEST_RPC)).result as Record<string, unknown>
const made = async (server: TestGateway) =>
  String((await method(server, 'session.create', { path: server.root, cli_type: 'talker' })).sessionId)

async function copied(server: TestGateway): Promise<void> {
  const id = await begun(server, hello)
  await server.sessions.get(id)?.ended(1)
  await guest(server, `POST /v1/sessions/${id}/end`)
  const exported = await (await fetchFrom(server, `GET /v1/sessions/${id}/export`, AS_GUEST)).text()
  await guest(server, `DELETE /v1/sessions/${id}`)
  await fetch(`${server.url}/v1/sessions/import`, {
    method: 'POST',
    headers: { ...AS_GUEST_RPC.headers, 'content-type': 'application/x-ndjson' },
    body: exported,
  })
}

const CREATED = ['session.created', 'prompt.sent']
const board = { agentType: 'puppet', prompt: hello }

/** What a client does, and the rows that it adds. */
const FACES: readonly [string, string, readonly string[], (server: TestGateway) => Promise<unknown>][] = [
  ['create', 'api', CREATED, (server) => begun(server, hello)],
  ['create without a prompt', 'api', ['session.created'], (server) => begun(server)],
  [
    'create on the page',
    'page',
    ['session.created'],
    (server) =>
      begun(server, undefined, 'puppet', { headers: { ...AS_GUEST.headers, 'x-mainstem-client': 'page' } }),
  ],
  [
    'prompt',
    'api',
    ['session.created', 'prompt.sent'],
    async (server) =>
      guest(server, `POST /v1/sessions/${await begun(server)}/turns`, { body: { prompt: hello } }),
  ],
  ['answer', 'api', [...CREATED, 'request.answered'], answered],
  [
    'answer in a terminal',
    'terminal',
    ['request.answered'],
    (server) => answered(server, { headers: { 'x-mainstem-client': 'terminal' } }),
  ],
  [
    'steer',
    'api',
    [...CREATED, 'turn.steered'],
    async (server) =>
      guest(server, `POST /v1/sessions/${await busy(server, 'able')}/steer`, { body: { prompt: 'x' } }),
  ],
  [
    'model',
    'api',
    [...CREATED, 'model.changed'],
    async (server) =>
      guest(server, `POST /v1/sessions/${await busy(server, 'able')}/model`, { body: { model: 'm' } }),
  ],
  [
    'a name',
    'api',
    ['session.created', 'session.renamed'],
    async (server) =>
      guest(server, `POST /v1/sessions/${await begun(server)}/name`, { body: { name: 'heron' } }),
  ],
  [
    'another agent',
    'api',
    ['session.created', 'agent.changed'],
    async (server) =>
      guest(server, `POST /v1/sessions/${await begun(server)}/agent`, { body: { agent: 'able' } }),
  ],
  [
    'policy',
    'api',
    [...CREATED, 'policy.changed'],
    async (server) =>
      guest(server, `POST /v1/sessions/${await busy(server, 'able')}/mode`, {
        body: { policy: { approval: 'ask', sandbox: 'none' } },
      }),
  ],
  [
    'interrupt',
    'api',
    [...CREATED, 'turn.interrupted'],
    async (server) => guest(server, `POST /v1/sessions/${await busy(server)}/interrupt`),
  ],
  [
    'removed prompt',
    'api',
    [...CREATED, 'prompt.sent', 'turn.interrupted'],
    async (server) => {
      const id = await busy(server)
      await guest(server, `POST /v1/sessions/${id}/turns`, { body: { prompt: hello } })
      await guest(server, `DELETE /v1/sessions/${id}/turns/2`)
    },
  ],
  [
    'end, export, delete, import',
    'api',
    [...CREATED, 'session.ended', 'session.exported', 'session.deleted', 'session.imported'],
    copied,
  ],
  [
    'execute',
    'execute',
    CREATED,
    async (server) =>
      (await server.execute({ auth_token: GUEST }, { headers: { 'x-request-id': REQUEST } })).text(),
  ],
  ['board create', 'board', CREATED, (server) => guest(server, 'POST /api/sessions', { body: board })],
  [
    'board prompt and cancel',
    'board',
    [...CREATED, 'prompt.sent', 'turn.interrupted', 'turn.interrupted'],
    async (server) => {
      const { body } = await guest(server, 'POST /api/sessions', { body: { ...board, prompt: working } })
      await server.gate.reached()
      await guest(server, 'POST /api/sessions', { body: { ...board, sessionId: body.id } })
      await guest(server, `POST /api/sessions/${body.id}/cancel`)
    },
  ],
  [
    'rpc create, send, change and destroy',
    'rpc',
    ['session.created', 'policy.changed', 'prompt.sent', 'session.ended'],
    async (server) => {
      const sessionId = await made(server)
      await method(server, 'session.set_mode', { sessionId, mode: 'ask' })
      const params = { sessionId, message: hello }
      await (await post(server, { method: 'session.send', params }, AS_GUEST_RPC)).text()
      await method(server, 'session.destroy', { sessionId })
    },
  ],
]

describe.each(STORES)('with %s', (_, open) => {
  test.each(FACES)('%s is in the audit trail of %s clients', async (_, client, actions, act) => {
    const ceiling = { approval: 'auto-all', sandbox: 'full-access' } as const
    await using server = await startGateway({ store: await open(), more: [talker], ceiling })
    await act(server)
    const rows = await trail(server)
    expect(rows.filter((row) => row.client === client).map(({ action }) => action)).toEqual(actions)
    for (const row of rows) {
      const at = expect.any(Number)
      const who = { principal: 'guest', address: '127.0.0.1', request: REQUEST }
      expect(row).toMatchObject({ ...who, at, session: expect.any(String) })
    }
    expect(new Set(rows.map(({ session }) => session)).size).toBeLessThanOrEqual(2)
  })
})

test('a command that is refused, or repeated with its key, adds nothing', async () => {
  await using server = await startGateway()
  const id = await begun(server)
  const send = () =>
    guest(server, `POST /v1/sessions/${id}/turns`, {
      body: { prompt: hello },
      headers: { 'idempotency-key': 'k' },
    })
  expect(await send()).toMatchObject({ status: 202 })
  expect(await send()).toMatchObject({ status: 202 })
  expect(await guest(server, `POST /v1/sessions/${id}/steer`, { body: { prompt: 'x' } })).toMatchObject({
    status: 422,
  })
  expect(await call(server, `POST /v1/sessions/${id}/turns`, { body: { prompt: hello } })).toMatchObject({
    status: 404,
  })
  expect((await trail(server)).map(({ action }) => action)).toEqual(['session.created', 'prompt.sent'])
})

test('a fork names the session that it copies', async () => {
  await using server = await startGateway()
  const cue = { say: { type: 'session.updated', nativeSessionId: 'native-1' } } as const
  const id = await begun(server, script(cue, text('m', 'hello'), success), 'able')
  await server.sessions.get(id)?.ended(1)
  const { body, status } = await guest(server, `POST /v1/sessions/${id}/fork`, { body: {} })
  expect(status, JSON.stringify(body)).toBe(201)
  expect((await trail(server, '&action=session.forked'))[0]).toMatchObject({
    session: body.id,
    details: { of: id },
  })
})

test('the trail is filtered, in pages of both orders, and as NDJSON', async () => {
  await using server = await startGateway()
  const ids = [await begun(server), await begin(server), await begun(server)]
  const all = await trail(server)
  expect(all.map(({ session }) => session)).toEqual(ids)
  expect(await trail(server, '&principal=owner')).toEqual([all[1]])
  expect(await trail(server, `&session=${ids[2]}`)).toEqual([all[2]])
  expect(await trail(server, '&action=session.deleted')).toEqual([])
  expect(await trail(server, `&until=${new Date(0).toISOString()}`)).toEqual([])
  expect(await trail(server, `&since=${all[0]?.at}`)).toEqual(all)
  for (const order of ['newest', 'oldest']) {
    const found: unknown[] = []
    let next: unknown = ''
    while (next !== undefined) {
      const after = next === '' ? '' : `&after=${next}`
      const { body } = await call(server, `GET /v1/audit?order=${order}&limit=2${after}`)
      found.push(...(body.records as AuditRecord[]))
      next = body.next
    }
    expect(found).toEqual(order === 'oldest' ? all : all.toReversed())
  }
  const streamed = await fetchFrom(server, 'GET /v1/audit?order=oldest', { headers: NDJSON })
  expect(streamed.headers.get('content-type')).toBe('application/x-ndjson')
  const lines = (await streamed.text()).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual(all)
  for (const query of ['after=x', 'since=yesterday', 'action=slept', 'limit=0'])
    expect(await call(server, `GET /v1/audit?${query}`)).toMatchObject({ status: 400 })
})

test('nobody but an operator reads the trail', async () => {
  await using server = await startGateway()
  for (const headers of [{}, NDJSON]) {
    expect(await guest(server, 'GET /v1/audit', { headers })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    })
  }
})

test('the events of a prompt name its sender, also after it waited in the queue', async () => {
  await using server = await startGateway()
  const id = await busy(server)
  const headers = { 'x-mainstem-client': 'page' }
  await guest(server, `POST /v1/sessions/${id}/turns`, { body: { prompt: hello }, headers })
  server.gate.open()
  await server.sessions.get(id)?.ended(2)
  const named = (await server.sessions.read(id, 0, 100)).flatMap(({ event }) =>
    event.type === 'turn.started' || event.type === 'turn.queued'
      ? [[event.type, event.turn, event.principal, event.client]]
      : [],
  )
  expect(named).toEqual([
    ['turn.started', 1, 'guest', 'api'],
    ['turn.queued', 2, 'guest', 'page'],
    ['turn.started', 2, 'guest', 'page'],
  ])
})

test('a client of `mainstem stdio` is named as such', async () => {
  await using server = await startGateway()
  const input = new PassThrough()
  const passed = passCalls({ input, output: new PassThrough(), url: server.url, token: GUEST })
  const headers = { 'content-type': 'application/json', 'x-mainstem-client': 'page' }
  const body = JSON.stringify({ agent: 'puppet' })
  input.write(`${JSON.stringify({ id: 1, method: 'POST', path: '/v1/sessions', headers, body })}\n`)
  await expect
    .poll(async () => (await trail(server)).map(({ principal, client }) => [principal, client]))
    .toEqual([['guest', 'stdio']])
  input.end()
  await passed
})

describe('X-Forwarded-For', () => {
  const forged = { headers: { ...AS_GUEST.headers, 'x-forwarded-for': '6.6.6.6, 203.0.113.9' } }
  const addressWith = async (trustProxy: readonly string[]) => {
    await using server = await startGateway({ trustProxy })
    await begun(server, undefined, 'puppet', forged)
    return (await trail(server))[0]?.address
  }

  test('of a peer that is no trusted proxy is ignored', async () => {
    expect(await addressWith([])).toBe('127.0.0.1')
    expect(await addressWith(['10.0.0.0/8', '::1'])).toBe('127.0.0.1')
  })

  test('of a trusted proxy names the client, and what the client wrote before it is ignored', async () => {
    expect(await addressWith(['127.0.0.1'])).toBe('203.0.113.9')
    expect(await addressWith(['127.0.0.0/8', '203.0.113.0/24'])).toBe('6.6.6.6')
  })

  test('changes neither the host that is checked nor the origin', async () => {
    await using server = await startGateway({ trustProxy: ['127.0.0.1'] })
    const headers = { ...forged.headers, 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
    expect(await guest(server, 'GET /v1/sessions', { headers })).toMatchObject({ status: 200 })
    const own = { ...headers, origin: 'https://evil.example' }
    expect(await guest(server, 'GET /v1/sessions', { headers: own })).toMatchObject({ status: 403 })
  })
})
