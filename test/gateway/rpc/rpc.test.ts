import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MainstemError } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { script, success, text } from '../puppet.ts'
import { GUEST, type TestGateway } from '../start.ts'
import { play } from '../talker.ts'
import { create, exchange, hello, open, post, result, rpc, startRpc, told } from './rpc.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startRpc()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const NOBODY = '00000000-0000-4000-8000-000000000000'
const body = async (response: Promise<Response>) => (await response).json()

describe('a call', () => {
  test.each([
    [{ method: 'session.list' }, null],
    [{ id: 7, method: 'session.list' }, 7],
    [{ jsonrpc: '2.0', id: 'a', method: 'session.list', params: {} }, 'a'],
    [{ jsonrpc: '2.0', id: null, method: 'session.list', params: null }, null],
    [{ jsonrpc: '2.0', method: 'session.list', trace: 'x' }, null],
  ])('as %j is answered under its id', async (call, id) => {
    expect(await body(post(server, call))).toEqual({ jsonrpc: '2.0', id, result: { sessions: [] } })
  })

  test.each([
    ['{', -32700, null],
    ['', -32700, null],
    ['{"method":"session.list","__proto__":{}}', -32700, null],
    [`${'['.repeat(70)}${']'.repeat(70)}`, -32700, null],
    ['[]', -32600, null],
    ['[{"id":1,"method":"session.list"}]', -32600, null],
    ['"session.list"', -32600, null],
    ['5', -32600, null],
    ['null', -32600, null],
    ['{}', -32600, null],
    ['{"id":3}', -32600, 3],
    ['{"id":{},"method":"session.list"}', -32600, null],
    ['{"jsonrpc":"1.0","id":4,"method":"session.list"}', -32600, 4],
    ['{"id":5,"method":5}', -32600, 5],
    ['{"id":6,"method":"session.nothing"}', -32601, 6],
    ['{"id":6,"method":"constructor"}', -32601, 6],
    ['{"id":7,"method":"session.list","params":[]}', -32602, 7],
    ['{"id":7,"method":"session.list","params":"x"}', -32602, 7],
    ['{"id":8,"method":"session.list","params":{"limit":5}}', -32602, 8],
  ])('as %j is refused with %i', async (call, code, id) => {
    const response = await post(server, call)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id, error: { code } })
  })

  test('that is turned away at the door is an HTTP problem, as on every route', async () => {
    const call = { method: 'session.list' }
    const refused = async (body: unknown, init: Parameters<typeof post>[2]) => {
      const response = await post(server, body, init)
      expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
      return response.json()
    }
    expect(await refused(call, { headers: { authorization: '' } })).toMatchObject({ status: 401 })
    expect(await refused('x', { headers: { 'content-type': 'text/plain' } })).toMatchObject({ status: 415 })
    expect(await refused({ method: 'x'.repeat(2 * 1024 * 1024) }, {})).toMatchObject({ status: 413 })
    expect(await refused(call, { path: '/rpc?token=x' })).toMatchObject({ status: 400, field: 'token' })
    expect(await refused(call, { headers: { 'idempotency-key': 'k' } })).toMatchObject({ status: 422 })
  })

  test('that fails internally reveals no reason, and the server logs it', async () => {
    const store = memoryStore()
    const secret = new Error('secret')
    store.records = () => Promise.reject(secret)
    const broken = await startRpc({ store })
    expect((await rpc(broken, 'session.list')).error).toMatchObject({
      code: -32603,
      message: expect.not.stringContaining('secret'),
      data: { code: 'unknown' },
    })
    expect(broken.reported).toEqual([secret])
    await broken[Symbol.asyncDispose]()
  })
})

describe('bad input', () => {
  const ids = ['', 5, null, {}, 'x'.repeat(200)]
  const ofSession = [
    'session.resume',
    'session.interrupt',
    'session.reconnect',
    'session.destroy',
    'session.set_mode',
    'session.set_model',
    'session.queue_stats',
  ]
  const more = { 'session.set_mode': { mode: 'ask' }, 'session.set_model': { model: 'opus' } }
  const paramsOf = (method: string) => (method in more ? more[method as keyof typeof more] : {})

  test.each(ofSession)('to %s names what is wrong', async (method) => {
    for (const sessionId of [undefined, ...ids]) {
      const { error } = await rpc(server, method, { ...paramsOf(method), sessionId })
      expect(error).toMatchObject({ code: -32602, data: { code: 'invalid_request', field: 'sessionId' } })
    }
    const surplus = await rpc(server, method, { ...paramsOf(method), sessionId: NOBODY, other: 1 })
    expect(surplus.error).toMatchObject({ code: -32602, data: { field: 'other' } })
  })

  test.each(ofSession)('to %s for a session that is not, or is not yours', async (method) => {
    const theirs = await server.sessions.create({ agent: 'able', cwd: server.root, principal: 'guest' })
    for (const sessionId of [NOBODY, 'nobody', theirs.id]) {
      const { error } = await rpc(server, method, { ...paramsOf(method), sessionId })
      expect(error).toMatchObject({ code: -32000, data: { code: 'session_not_found' } })
    }
    expect(await server.sessions.record(theirs.id)).toMatchObject({ head: 1, status: 'idle' })
  })

  test.each([
    ['path', { path: undefined }, -32602, 'invalid_request'],
    ['path', { path: '' }, -32602, 'invalid_request'],
    ['path', { path: '/nowhere' }, -32000, 'forbidden'],
    ['path', { path: 'relative' }, -32000, 'forbidden'],
    ['path', { path: '/' }, -32000, 'forbidden'],
    ['mode', { mode: 'yolo' }, -32602, 'invalid_request'],
    ['model', { model: '--model' }, -32602, 'invalid_request'],
    ['cli_type', { cli_type: '../claude' }, -32602, 'invalid_request'],
    ['sdkSessionId', { sdkSessionId: 'x' }, -32602, 'invalid_request'],
    [undefined, { cli_type: 'nobody' }, -32000, 'agent_not_found'],
  ])('to session.create with a wrong %s begins nothing', async (field, params, code, word) => {
    const { error } = await rpc(server, 'session.create', { path: server.root, cli_type: 'echo', ...params })
    expect(error).toMatchObject({ code, data: { code: word, ...(field && { field }) } })
    expect(await server.sessions.records({ limit: 10 })).toEqual([])
  })

  test.each([
    ['session.send', { message: 'x' }, 'sessionId'],
    ['session.send', { sessionId: NOBODY }, 'message'],
    ['session.send', { sessionId: NOBODY, message: '' }, 'message'],
    ['session.send', { sessionId: NOBODY, message: 5 }, 'message'],
    ['session.reconnect', { sessionId: NOBODY, after: -1 }, 'after'],
    ['session.set_mode', { sessionId: NOBODY, mode: 'yolo' }, 'mode'],
    ['session.set_model', { sessionId: NOBODY, model: 'a b' }, 'model'],
    ['session.resume', { sessionId: NOBODY, sdkSessionId: '--flag' }, 'sdkSessionId'],
  ])('to %s with %j names %s', async (method, params, field) => {
    expect((await rpc(server, method, params)).error).toMatchObject({ code: -32602, data: { field } })
  })

  test.each(['x', '3.', '99', 99])('as the cursor %j is refused', async (after) => {
    const sessionId = await create(server)
    const { error } = await rpc(server, 'session.reconnect', { sessionId, after })
    expect(error).toMatchObject({ code: -32602, data: { field: 'after' } })
  })
})

describe('a mode', () => {
  test.each([
    ['auto', { approval: 'auto-all', sandbox: 'full-access' }],
    ['code', { approval: 'auto-edit', sandbox: 'none' }],
    ['plan', { approval: 'ask', sandbox: 'read-only' }],
    ['ask', { approval: 'ask', sandbox: 'none' }],
  ])('%s is a policy, and is listed by its name', async (mode, policy) => {
    const sessionId = await create(server, { mode })
    expect((await server.sessions.record(sessionId))?.policy).toEqual(policy)
    expect(await result(server, 'session.list')).toMatchObject({ sessions: [{ sessionId, mode }] })
  })

  test('is auto unless another is asked for', async () => {
    await create(server)
    expect(await result(server, 'session.list')).toMatchObject({ sessions: [{ mode: 'auto' }] })
  })

  test('above the ceiling of the server is refused, at the start and later', async () => {
    await using low = await startRpc({ ceiling: { approval: 'ask', sandbox: 'none' } })
    const refused = { code: -32000, data: { code: 'forbidden' } }
    for (const mode of ['auto', 'code', undefined]) {
      const params = { path: low.root, cli_type: 'able', ...(mode && { mode }) }
      expect((await rpc(low, 'session.create', params)).error).toMatchObject(refused)
    }
    const sessionId = await create(low, { cli_type: 'able', mode: 'plan' })
    const { error } = await rpc(low, 'session.set_mode', { sessionId, mode: 'auto' })
    expect(error).toMatchObject(refused)
    expect(await result(low, 'session.set_mode', { sessionId, mode: 'ask' })).toEqual({ ok: true })
  })

  test('and a model can be changed where the agent can, and are refused where it cannot', async () => {
    const able = await create(server, { cli_type: 'able', mode: 'ask' })
    for (const mode of ['auto', 'code', 'plan', 'ask']) {
      expect(await result(server, 'session.set_mode', { sessionId: able, mode })).toEqual({ ok: true })
      expect(await result(server, 'session.list')).toMatchObject({ sessions: [{ mode }] })
    }
    expect(await result(server, 'session.set_model', { sessionId: able, model: 'opus' })).toEqual({
      ok: true,
    })
    expect(await result(server, 'session.list')).toMatchObject({
      sessions: [{ model: 'opus', cliType: 'able' }],
    })
    const puppet = await create(server, { cli_type: 'puppet', mode: 'ask' })
    for (const [method, params] of [['session.set_model', { model: 'opus' }]] as const) {
      const { error } = await rpc(server, method, { sessionId: puppet, ...params })
      expect(error).toMatchObject({ code: -32000, data: { code: 'unsupported_option' } })
    }
    expect(await result(server, 'session.set_mode', { sessionId: puppet, mode: 'plan' })).toEqual({
      ok: true,
    })
  })
})

describe('resuming', () => {
  test('continues the conversation of the session', async () => {
    const sessionId = await create(server)
    expect(await result(server, 'session.resume', { sessionId })).toEqual({ ok: true, fallback: true })
    await exchange(server, sessionId, play([hello('sdk-9'), text('m1', 'one'), success]))
    for (const more of [{}, { sdkSessionId: 'sdk-9' }]) {
      const resumed = await result(server, 'session.resume', { sessionId, ...more })
      expect(resumed).toEqual({ ok: true, fallback: false })
    }
  })

  test('takes up a conversation that was begun elsewhere', async () => {
    const sessionId = await create(server)
    const resumed = await result(server, 'session.resume', { sessionId, sdkSessionId: 'sdk-old' })
    expect(resumed).toEqual({ ok: true, fallback: false })
    expect(await result(server, 'session.list')).toMatchObject({ sessions: [{ sdkSessionId: 'sdk-old' }] })
  })

  test('falls back where the agent resumes nothing', async () => {
    const sessionId = await create(server, { cli_type: 'echo' })
    const resumed = await result(server, 'session.resume', { sessionId, sdkSessionId: 'sdk-old' })
    expect(resumed).toEqual({ ok: true, fallback: true })
    expect(await exchange(server, sessionId, 'hi')).toContainEqual({ type: 'text', content: 'hi' })
  })

  test('finds no conversation of another principal, and none while a turn runs', async () => {
    const mine = await create(server)
    await exchange(server, mine, play([hello('sdk-mine'), text('m1', 'one'), success]))
    const headers = { authorization: `Bearer ${GUEST}` }
    const params = { path: server.root, cli_type: 'talker' }
    const theirs = (await rpc(server, 'session.create', params, { headers })).result as { sessionId: string }
    const taken = await rpc(server, 'session.resume', { ...theirs, sdkSessionId: 'sdk-mine' }, { headers })
    expect(taken.error).toMatchObject({ code: -32000, data: { code: 'session_not_found' } })
    const stream = await open(server, mine, play([text('m2', 'two'), { ...success, wait: true }]))
    await stream.until('"two"')
    const busy = await rpc(server, 'session.resume', { sessionId: mine, sdkSessionId: 'sdk-other' })
    expect(busy.error).toMatchObject({ code: -32000, data: { code: 'conflict' } })
    await server.gate.open()
    expect(told(await stream.whole()).at(-1)).toBe('[DONE]')
  })
})

describe('the state of things', () => {
  test('lists sessions with all their fields, newest first, each with its own', async () => {
    const first = await create(server, { mode: 'ask', model: 'opus' })
    const second = await create(server, { cli_type: 'puppet' })
    await exchange(server, second, script(text('m1', 'half')))
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const times = { createdAt: time, lastActivityAt: time }
    const shared = { path: server.root, sdkSessionId: null, ...times }
    const sessions = [
      { ...shared, sessionId: second, status: 'error', mode: 'auto', model: null, cliType: 'puppet' },
      { ...shared, sessionId: first, status: 'idle', mode: 'ask', model: 'opus', cliType: 'talker' },
    ]
    expect(await result(server, 'session.list')).toEqual({ sessions })
    const guest = await rpc(server, 'session.list', {}, { headers: { authorization: `Bearer ${GUEST}` } })
    expect(guest.result).toEqual({ sessions: [] })
    const queue = { userPending: 0, responsePending: 0, clientConnected: false }
    expect(await result(server, 'monitor.sessions')).toEqual({
      sessions: sessions.map((session) => ({ ...session, queue })),
      totalSessions: 2,
      uptime: expect.any(Number),
    })
  })

  test('is healthy, with figures', async () => {
    const busy = await create(server)
    await create(server)
    const stream = await open(server, busy, play([hello(), text('m1', 'one'), { ...success, wait: true }]))
    await stream.until('"one"')
    expect(await result(server, 'health.check')).toEqual({
      ok: true,
      sessions: 2,
      sessionsByStatus: { idle: 1, busy: 1, error: 0 },
      uptime: expect.any(Number),
      memory: { rss: expect.any(Number), heapUsed: expect.any(Number), heapTotal: expect.any(Number) },
      nodeVersion: process.version,
      pid: process.pid,
      version: '0.0.0',
    })
    await server.gate.open()
    await stream.whole()
  })
})

test('a store failure during an exchange is reported, and the stream ends', async () => {
  const store = memoryStore()
  const append = store.append.bind(store)
  let broken = false
  store.append = async (session, batch, fence) => {
    if (broken) throw new MainstemError('storage_failed', 'the disk is full')
    return append(session, batch, fence)
  }
  const failing = await startRpc({ store })
  const id = await create(failing)
  const stream = await open(failing, id, play([hello(), text('m1', 'one'), { ...success, wait: true }]))
  await stream.until('"one"')
  broken = true
  await failing.gate.open()
  expect(told(await stream.whole()).slice(-2)).toEqual([
    { type: 'error', message: expect.any(String), code: 'storage_failed' },
    '[DONE]',
  ])
  broken = false
  await failing[Symbol.asyncDispose]()
})
