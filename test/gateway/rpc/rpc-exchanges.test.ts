import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { memoryStore } from '../../../src/stores/memory.ts'
import { sqliteStore } from '../../../src/stores/sqlite.ts'
import { success, text } from '../puppet.ts'
import { type TestGateway, TOKEN } from '../start.ts'
import { StreamReader } from '../streams/sse.ts'
import { play } from '../talker.ts'
import { create, exchange, hello, model, open, piece, result, rpc, startRpc, told } from './rpc.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startRpc()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const init = { type: 'system', subtype: 'init', session_id: 'sdk-1', model }
const ended = [{ type: 'result', session_id: 'sdk-1' }, '[DONE]']
const said = (content: string) => ({ type: 'text', content })
const missed = async (sessionId: string, after?: unknown, from = server) =>
  result(from, 'session.reconnect', { sessionId, ...(after !== undefined && { after }) })
const record = (id: string) => server.sessions.record(id)

/** A relay to the server, as the end of a tunnel is one. */
async function openTunnel(to: number) {
  const sockets = new Set<Socket>()
  const relay = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined))
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  return {
    port: (relay.address() as AddressInfo).port,
    lose() {
      for (const socket of sockets) socket.destroy()
      relay.close()
    },
  }
}

describe('a client that leaves', () => {
  test('stops nothing, and what it missed waits until it is read', async () => {
    const id = await create(server)
    const leaving = new AbortController()
    const prompt = play([hello(), text('m1', 'one'), { ...text('m2', 'two'), wait: true }, success])
    const stream = await open(server, id, prompt, { signal: leaving.signal })
    await stream.until('"one"')
    leaving.abort()
    await expect
      .poll(async () => (await result(server, 'session.queue_stats', { sessionId: id })).clientConnected)
      .toBe(false)
    await server.gate.open()
    await server.sessions.get(id)?.settled(1)
    const whole = [init, said('one'), said('two'), ended[0]]
    const stats = () => result(server, 'session.queue_stats', { sessionId: id })
    expect(await stats()).toEqual({
      userPending: 0,
      responsePending: whole.length,
      clientConnected: false,
    })
    const first = await missed(id)
    expect(first.bufferedEvents).toEqual(whole)
    expect(await stats()).toEqual({ userPending: 0, responsePending: 0, clientConnected: true })
    expect(await missed(id)).toEqual({ bufferedEvents: [], cursor: first.cursor })
    expect(await missed(id, first.cursor)).toEqual({ bufferedEvents: [], cursor: first.cursor })
    expect((await missed(id, 0)).bufferedEvents).toEqual(whole)
  })

  test('resumes after its last id, message by message', async () => {
    const id = await create(server)
    const prompt = play([hello(), text('m1', 'one'), text('m2', 'two'), success])
    const stream = await (await open(server, id, prompt, { path: '/rpc?ids=1' })).whole()
    const ids = [...stream.matchAll(/^id: (.*)$/gm)].map(([, one]) => one)
    const all = told(stream).slice(0, -1)
    expect(ids).toHaveLength(all.length)
    for (const [index, one] of ids.entries()) {
      expect((await missed(id, one)).bufferedEvents).toEqual(all.slice(index + 1))
    }
    expect((await missed(id, 0)).bufferedEvents).toEqual(all)
  })

  test('because its tunnel is lost finds everything through the next one', async () => {
    const tunnel = await openTunnel(server.port)
    const id = await create(server)
    const prompt = play([hello(), text('m1', 'one'), { ...text('m2', 'two'), wait: true }, success])
    const stream = new StreamReader(
      await fetch(`http://127.0.0.1:${tunnel.port}/rpc?ids=1`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify({ method: 'session.send', params: { sessionId: id, message: prompt } }),
      }),
    )
    await stream.until('"one"')
    const last = /id: (\S+)\n[^\n]*\n\n$/.exec(stream.text)?.[1]
    tunnel.lose()
    await expect(stream.whole()).rejects.toThrow()
    await server.gate.open()
    await server.sessions.get(id)?.settled(1)
    expect((await missed(id)).bufferedEvents).toEqual([init, said('one'), said('two'), ended[0]])
    expect((await missed(id, last)).bufferedEvents).toEqual([said('two'), ended[0]])
  })

  test('misses nothing of a turn that still runs', async () => {
    const id = await create(server)
    const stream = await open(server, id, play([hello(), piece('m1', 'a'), piece('m1', 'b', true), success]))
    await stream.until('"a"')
    const { bufferedEvents, cursor } = await missed(id)
    expect(bufferedEvents).toEqual([init, { type: 'partial', content: 'a' }])
    await server.gate.open()
    await stream.whole()
    expect((await missed(id, cursor)).bufferedEvents).toEqual([{ type: 'partial', content: 'b' }, ended[0]])
  })
})

describe('an exchange that no client has read', () => {
  /** m1 and m2 finish unread, and m3 is read whole. */
  async function readLastOnly(from: TestGateway): Promise<string> {
    const id = await create(from)
    const leaving = new AbortController()
    const first = play([hello(), text('m1', 'one'), { ...success, wait: true }])
    const stream = await open(from, id, first, { signal: leaving.signal })
    await stream.until('"one"')
    await exchange(from, id, play([text('m2', 'two'), success]))
    leaving.abort()
    await expect
      .poll(async () => (await result(from, 'session.queue_stats', { sessionId: id })).clientConnected)
      .toBe(false)
    await from.gate.open()
    await from.sessions.get(id)?.settled(2)
    expect(await exchange(from, id, play([text('m3', 'three'), success]))).toEqual([
      init,
      said('three'),
      ...ended,
    ])
    return id
  }
  const unread = [init, said('one'), ended[0], init, said('two'), ended[0]]

  test('stays when a later one is read, and is not repeated once it is read', async () => {
    const id = await readLastOnly(server)
    const stats = () => result(server, 'session.queue_stats', { sessionId: id })
    expect(await stats()).toEqual({
      userPending: 0,
      responsePending: unread.length,
      clientConnected: false,
    })
    expect((await missed(id)).bufferedEvents).toEqual(unread)
    expect(await stats()).toEqual({ userPending: 0, responsePending: 0, clientConnected: true })
    expect((await missed(id)).bufferedEvents).toEqual([])
    expect((await missed(id, 0)).bufferedEvents).toEqual([...unread, init, said('three'), ended[0]])
  })

  test('stays across a restart, and so does the fact that it was read', async () => {
    const store = memoryStore()
    const first = await startRpc({ store })
    const id = await readLastOnly(first)
    await first[Symbol.asyncDispose]()
    const second = await startRpc({ store })
    expect((await missed(id, undefined, second)).bufferedEvents).toEqual(unread)
    await second[Symbol.asyncDispose]()
    await using third = await startRpc({ store })
    expect((await missed(id, undefined, third)).bufferedEvents).toEqual([])
  })

  test('because it was dropped from the queue stays when the turn before it is read', async () => {
    const id = await create(server)
    const stream = await open(server, id, play([hello(), text('m1', 'one'), { ...success, wait: true }]))
    await stream.until('"one"')
    await exchange(server, id, play([text('m2', 'two'), success]))
    await server.sessions.get(id)?.interrupt(2)
    await server.gate.open()
    expect(told(await stream.whole())).toEqual([init, said('one'), ...ended])
    expect((await missed(id)).bufferedEvents).toEqual([{ type: 'interrupted' }])
    expect((await missed(id)).bufferedEvents).toEqual([])
  })
})

describe('an exchange that was delivered whole', () => {
  test('is not sent again, and the next one is', async () => {
    const id = await create(server)
    await exchange(server, id, play([hello(), text('m1', 'one'), success]))
    expect((await missed(id)).bufferedEvents).toEqual([])
    const session = await server.sessions.open(id)
    await session.settled(await session.prompt(play([text('m2', 'two'), success])))
    expect((await missed(id)).bufferedEvents).toEqual([init, said('two'), ended[0]])
  })

  test('is not sent again, however slowly that is written down', async () => {
    const store = memoryStore()
    const append = store.append.bind(store)
    const slow = Promise.withResolvers<void>()
    store.append = async (session, batch, fence) => {
      if (batch.entries.length === 0) await slow.promise
      return append(session, batch, fence)
    }
    await using late = await startRpc({ store })
    const id = await create(late)
    await exchange(late, id, play([hello(), text('m1', 'one'), success]))
    const asked = missed(id, undefined, late)
    const list = result(late, 'session.list')
    expect(await Promise.race([asked.then(() => 'asked'), list.then(() => 'listed')])).toBe('listed')
    slow.resolve()
    expect((await asked).bufferedEvents).toEqual([])
  })

  test('is still known after a restart, and what came later is too', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'rpc-'))
    const first = await sqliteStore({ directory, durability: 'process' })
    const before = await startRpc({ store: first })
    const id = await create(before)
    await exchange(before, id, play([hello(), text('m1', 'one'), success]))
    const stream = await open(before, id, play([text('m2', 'two'), { ...success, wait: true }]))
    await stream.until('"two"')
    expect(await exchange(before, id, play([text('m3', 'three'), success]))).toEqual([
      { type: 'queued', position: 1 },
      '[DONE]',
    ])
    // Cut off as by a crash: nobody is told anything.
    before.app.server.closeAllConnections()
    await expect(stream.whole()).rejects.toThrow()
    await before[Symbol.asyncDispose]()
    await first[Symbol.asyncDispose]()

    const second = await sqliteStore({ directory, durability: 'process' })
    const after = await startRpc({ store: second })
    await after.sessions.recover()
    await after.sessions.resumeQueues()
    await after.sessions.get(id)?.settled(3)
    expect(await result(after, 'session.list')).toMatchObject({
      sessions: [{ sessionId: id, status: 'idle', sdkSessionId: 'sdk-1' }],
    })
    expect((await missed(id, undefined, after)).bufferedEvents).toEqual([
      init,
      said('two'),
      { type: 'interrupted' },
      init,
      said('three'),
      ended[0],
    ])
    expect(await exchange(after, id, play([text('m4', 'four'), success]))).toEqual([
      init,
      said('four'),
      ...ended,
    ])
    await after[Symbol.asyncDispose]()
    await second[Symbol.asyncDispose]()
    rmSync(directory, { recursive: true })
  })

  test('because the server stopped is not sent again by the next one', async () => {
    const store = memoryStore()
    const before = await startRpc({ store })
    const id = await create(before)
    const stream = await open(before, id, play([hello(), text('m1', 'one'), { ...success, wait: true }]))
    await stream.until('"one"')
    await before.sessions.drain()
    expect(told(await stream.whole()).slice(-2)).toEqual([{ type: 'interrupted' }, '[DONE]'])
    expect((await missed(id, undefined, before)).bufferedEvents).toEqual([])
    await before[Symbol.asyncDispose]()
    await using after = await startRpc({ store })
    expect((await missed(id, undefined, after)).bufferedEvents).toEqual([])
  })
})

describe('the stream ends in [DONE]', () => {
  const error = (code: string) => ({ type: 'error', message: expect.any(String), code })

  test.each(['nobody', '00000000-0000-4000-8000-000000000000'])(
    'for the session %s that is not',
    async (id) => {
      expect(await exchange(server, id, 'hello')).toEqual([error('session_not_found'), '[DONE]'])
    },
  )

  test('for the session of another principal, as if it did not exist', async () => {
    const { id } = await server.sessions.create({ agent: 'echo', cwd: server.root, principal: 'guest' })
    expect(await exchange(server, id, 'hello')).toEqual([error('session_not_found'), '[DONE]'])
    expect(await server.sessions.record(id)).toMatchObject({ turns: 0 })
  })

  test('for a session that was destroyed, during an exchange and after it', async () => {
    const id = await create(server)
    const stream = await open(server, id, play([hello(), text('m1', 'one'), { ...success, wait: true }]))
    await stream.until('"one"')
    expect(await result(server, 'session.destroy', { sessionId: id })).toEqual({ ok: true })
    expect(told(await stream.whole())).toEqual([init, said('one'), { type: 'interrupted' }, '[DONE]'])
    expect(await exchange(server, id, 'hello')).toEqual([error('conflict'), '[DONE]'])
    expect((await missed(id)).bufferedEvents).toEqual([init, said('one'), { type: 'interrupted' }])
    expect(await result(server, 'session.list')).toEqual({ sessions: [] })
    expect(await result(server, 'session.destroy', { sessionId: id })).toEqual({ ok: true })
  })

  test('for a session that is deleted under its reader', async () => {
    const id = await create(server)
    const stream = await open(server, id, play([hello(), text('m1', 'one'), { ...success, wait: true }]))
    await stream.until('"one"')
    await server.sessions.delete(id)
    expect(told(await stream.whole()).at(-1)).toBe('[DONE]')
    expect((await rpc(server, 'session.reconnect', { sessionId: id })).error).toMatchObject({ code: -32000 })
  })

  test('for a server that stops, or has too much to do', async () => {
    await using stopping = await startRpc({ phase: () => 'draining' })
    expect(await exchange(stopping, 'x', 'hello')).toEqual([error('draining'), '[DONE]'])
  })
})

test('an interrupt drops the queue, and reconnect reports it', async () => {
  const id = await create(server)
  const stream = await open(server, id, play([hello(), text('m1', 'one'), { ...success, wait: true }]))
  await stream.until('"one"')
  await exchange(server, id, play([text('m2', 'two'), success]))
  expect(await result(server, 'session.queue_stats', { sessionId: id })).toEqual({
    userPending: 1,
    responsePending: 0,
    clientConnected: true,
  })
  expect(await result(server, 'session.interrupt', { sessionId: id })).toEqual({
    ok: true,
    interrupted: true,
  })
  expect(told(await stream.whole())).toEqual([init, said('one'), { type: 'interrupted' }, '[DONE]'])
  expect(await record(id)).toMatchObject({ queue: [], turns: 2, lastOutcome: 'interrupted' })
  expect((await missed(id, 0)).bufferedEvents).toEqual([
    init,
    said('one'),
    { type: 'interrupted' },
    { type: 'interrupted' },
  ])
})
