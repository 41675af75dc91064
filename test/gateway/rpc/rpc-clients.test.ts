import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { success, text } from '../puppet.ts'
import { sendRaw, statusOf } from '../raw.ts'
import { type TestGateway, TOKEN } from '../start.ts'
import { play } from '../talker.ts'
import { create, exchange, hello, open, post, result, rpc, startRpc } from './rpc.ts'

const HOME = realpathSync(homedir())

let server: TestGateway
beforeEach(async () => {
  server = await startRpc({ roots: [HOME] })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

describe('a client that knows `data:` lines alone', () => {
  const answer = play([hello(), text('m1', 'one'), success])

  test('can cut the stream at empty lines', async () => {
    const stream = await (await open(server, await create(server, { path: '~' }), answer)).whole()
    const blocks = stream.split('\n\n')
    expect(blocks.pop()).toBe('')
    expect(blocks.pop()).toBe('data: [DONE]')
    expect(blocks.map((block) => JSON.parse(block.slice('data: '.length)).type)).toEqual([
      'system',
      'text',
      'result',
    ])
  })

  test('gets ids by asking for them', async () => {
    const id = await create(server, { path: '~' })
    const stream = await (await open(server, id, answer, { path: '/rpc?ids=1' })).whole()
    const blocks = stream.split('\n\n').slice(0, -2)
    expect(blocks.length).toBe(3)
    for (const block of blocks) expect(block).toMatch(/^id: \d+(\.\d+)?\ndata: \{.*\}$/)
  })
})

describe('a client that writes null for what is absent', () => {
  test('is understood where the parameter may be absent', async () => {
    const params = { path: HOME, cli_type: 'echo', mode: null, model: null }
    const sessionId = await create(server, params)
    expect(await result(server, 'session.list')).toMatchObject({ sessions: [{ mode: 'auto', model: null }] })
    const nothing = { bufferedEvents: [], cursor: expect.any(String) }
    expect(await result(server, 'session.reconnect', { sessionId, after: null })).toMatchObject(nothing)
    expect(await result(server, 'session.resume', { sessionId, sdkSessionId: null })).toMatchObject({
      ok: true,
    })
  })

  test('is refused where it has to be there', async () => {
    for (const [method, params] of [
      ['session.create', { path: null }],
      ['session.send', { sessionId: null, message: 'x' }],
      ['session.set_mode', { sessionId: 'x', mode: null }],
      ['session.set_model', { sessionId: 'x' }],
    ] as const) {
      expect((await rpc(server, method, params)).error).toMatchObject({ code: -32602 })
    }
  })

  test('returns to the model of the agent', async () => {
    const sessionId = await create(server, { path: '~', cli_type: 'echo' })
    const choose = (model: string | null) => rpc(server, 'session.set_model', { sessionId, model })
    expect(await choose(null)).toMatchObject({ result: { ok: true } })
    expect(await choose('other')).toMatchObject({ result: { ok: true } })
    expect(await result(server, 'session.list')).toMatchObject({ sessions: [{ model: 'other' }] })
    expect(await choose(null)).toMatchObject({ result: { ok: true } })
    expect((await server.sessions.record(sessionId))?.options).toEqual({})
  })
})

describe('a path', () => {
  test('may begin at home, or be the name of a project', async () => {
    const app = server.root
    await using house = await startRpc({ roots: [HOME, app], projects: { app } })
    for (const [path, place] of [
      ['~', HOME],
      ['~/', HOME],
      [`~/../${basename(HOME)}`, HOME],
      ['app', app],
    ] as const) {
      const sessionId = await create(house, { path, cli_type: 'echo' })
      const listed = expect.arrayContaining([expect.objectContaining({ sessionId, path: place })])
      expect(await result(house, 'session.list')).toEqual({ sessions: listed })
    }
  })

  test('that does not exist is reported as such, without revealing those of others', async () => {
    for (const path of ['/nonexistent/path', '/', '~nobody', 'app', '.', 'constructor']) {
      expect((await rpc(server, 'session.create', { path })).error).toMatchObject({
        code: -32000,
        message: `Path does not exist below the roots of this server: ${path}`,
        data: { code: 'forbidden', field: 'path' },
      })
    }
  })
})

describe('an agent without native conversations', () => {
  test('is found by the session id, and continued', async () => {
    const sessionId = await create(server, { path: '~', cli_type: 'echo' })
    const told = await exchange(server, sessionId, 'hello')
    expect(told.at(-2)).toEqual({ type: 'result', session_id: sessionId })
    const resumed = await result(server, 'session.resume', { sessionId, sdkSessionId: sessionId })
    expect(resumed).toEqual({ ok: true, fallback: false })
    expect((await exchange(server, sessionId, 'again')).at(-2)).toMatchObject({ type: 'result' })
  })

  test('takes every mode', async () => {
    const sessionId = await create(server, { path: '~', cli_type: 'echo' })
    for (const mode of ['auto', 'code', 'plan', 'ask']) {
      expect(await result(server, 'session.set_mode', { sessionId, mode })).toEqual({ ok: true })
      expect(await result(server, 'session.list')).toMatchObject({ sessions: [{ mode }] })
    }
    expect(await exchange(server, sessionId, 'hello')).toContainEqual({ type: 'text', content: 'hello' })
  })
})

describe('a call', () => {
  test('to the path with a slash behind it is the same call', async () => {
    const response = await post(server, { method: 'session.list' }, { path: '/rpc/' })
    expect(await response.json()).toMatchObject({ result: { sessions: [] } })
  })

  test.each([
    'application/json',
    'application/json;charset=UTF-8',
    'application/json; charset=utf-8; x=1',
    'Application/JSON',
  ])('is read as %s, with line ends of any kind', async (type) => {
    const call = '\r\n{\r\n  "method": "session.list",\r\n  "params": {}\r\n}\r\n'
    const response = await post(server, call, { headers: { 'content-type': type, accept: '*/*' } })
    expect(await response.json()).toMatchObject({ result: { sessions: [] } })
  })

  test('may come over HTTP/1.0, and many over one connection', async () => {
    const body = '{"method":"session.list"}'
    const call = (version: string, rest: string) =>
      `POST /rpc HTTP/${version}\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n${rest}\r\n${body}`
    expect(statusOf(await sendRaw(server.port, call('1.0', '')))).toBe(200)
    const many = await sendRaw(server.port, call('1.1', '').repeat(9) + call('1.1', 'Connection: close\r\n'))
    expect(many.match(/"result":\{"sessions":\[\]\}/g)).toHaveLength(10)
  })
})
