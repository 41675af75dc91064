import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects } from '../../../src/dialects/index.ts'
import { StreamQuota } from '../../../src/gateway/streams/stream-quota.ts'
import { begin, call, fetchFrom, finished, streamed } from '../api.ts'
import { script, success, text } from '../puppet.ts'
import { sendRaw, statusOf } from '../raw.ts'
import { GUEST, type Options, startGateway, type TestGateway, TOKEN } from '../start.ts'
import { refusal, SocketReader, wholeSocket } from './socket.ts'

const PATIENCE = { timeout: 20_000 }

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

async function restart(options: Options): Promise<void> {
  await server[Symbol.asyncDispose]()
  server = await startGateway(options)
}

const STORY = script(
  { say: { type: 'thinking.completed', messageId: 't', text: 'hm' } },
  { say: { type: 'tool.started', toolId: 'c1', name: 'Read', kind: 'read', input: { path: 'a' } } },
  {
    say: { type: 'tool.completed', toolId: 'c1', name: 'Read', kind: 'read', status: 'success', output: 'a' },
  },
  text('m', 'done'),
  success,
)
const events = (id: string, query = '') => `/v1/sessions/${id}/events${query}`

describe('a socket of the log', () => {
  test.each([...dialects.keys()])('has the messages of the stream, in %s', async (dialect) => {
    const id = await finished(server, STORY)
    const stream = await streamed(server, events(id, `?dialect=${dialect}`))
    const { messages, code, reason } = await wholeSocket(server, events(id, `?dialect=${dialect}`))
    expect(messages).toEqual(stream.map(({ data }) => data))
    expect([code, reason]).toEqual([1000, 'ended'])
    expect(messages.length).toBeGreaterThan(1)
  })

  test.each([...dialects.keys()])('resumes after every id, in %s', async (dialect) => {
    const id = await finished(server, STORY)
    const stream = await streamed(server, events(id, `?dialect=${dialect}`))
    for (const [index, { id: last }] of stream.entries()) {
      const { messages, code } = await wholeSocket(server, events(id, `?dialect=${dialect}&after=${last}`))
      expect(messages).toEqual(stream.slice(index + 1).map(({ data }) => data))
      expect(code).toBe(1000)
    }
  })

  test('is replay and then live, over several turns', async () => {
    const one = script(text('m', 'one'), { ...text('n', 'two'), wait: true }, success)
    const id = await begin(server, { prompt: one })
    await server.gate.reached()
    const reader = await new SocketReader(server, events(id, '?types=text.completed')).open()
    await reader.until(1)
    await server.gate.open()
    await reader.until(2)
    await server.sessions.get(id)?.settled(1)
    await call(server, `POST /v1/sessions/${id}/turns`, { body: { prompt: script(text('o', '3'), success) } })
    await reader.until(3)
    await call(server, `POST /v1/sessions/${id}/end`)
    expect(await reader.closed).toEqual({ code: 1000, reason: 'ended' })
    expect(reader.messages).toHaveLength(3)
  })

  test('has raw frames if requested', async () => {
    const id = await finished(server, STORY)
    const { messages } = await wholeSocket(server, events(id, '?raw=1&types=text.completed'))
    expect(messages).toEqual([expect.objectContaining({ raw: expect.stringContaining('text.completed') })])
  })

  test('is closed with its own code when the session is deleted', async () => {
    const id = await begin(server, { prompt: STORY })
    await server.sessions.get(id)?.settled(1)
    const reader = new SocketReader(server, events(id))
    await reader.until(1)
    await fetchFrom(server, `DELETE /v1/sessions/${id}`)
    // The end may be told before the log is gone; nobody is left waiting in any case.
    expect([1000, 4404]).toContain((await reader.closed).code)
  })

  test('ignores messages of the client, unless they are too long', async () => {
    const id = await begin(server, { prompt: STORY })
    const reader = await new SocketReader(server, events(id)).open()
    reader.socket.send('{"type":"cancel"}')
    reader.socket.send(new Uint8Array(100))
    await reader.until(4)
    reader.socket.send('x'.repeat(64 * 1024 + 1))
    expect((await reader.closed).code).toBe(1009)
  })
})

describe('before the upgrade', () => {
  test.each([
    ['no token', '', 'unauthorized', 401],
    ["somebody else's token", GUEST, 'session_not_found', 404],
  ])('%s is refused', async (_, token, code, status) => {
    const id = await begin(server)
    expect(await refusal(server, events(id), { token })).toMatchObject({ code, status })
  })

  test.each([
    ['a foreign Host', { host: 'evil.example' }],
    ['a foreign Origin', { origin: 'http://evil.example' }],
    ['a foreign site', { 'sec-fetch-site': 'cross-site' }],
  ])('%s is turned away', async (_, headers) => {
    const id = await begin(server)
    expect(await refusal(server, events(id), { headers })).toMatchObject({ code: 'forbidden', status: 403 })
  })

  test.each([
    ['?after=99999', 'after'],
    ['?after=x', 'after'],
    ['?dialect=klingon', 'dialect'],
    ['?limit=3', 'limit'],
    ['?nonsense=1', 'nonsense'],
    ['?token=x', 'token'],
  ])('%s is refused by name', async (query, field) => {
    const id = await begin(server)
    expect(await refusal(server, events(id, query))).toMatchObject({ status: 400, field })
  })

  test('a path without a socket returns an error, and an unknown one is not found', async () => {
    expect(await refusal(server, '/v1/sessions')).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(await refusal(server, '/v1/nothing')).toMatchObject({ status: 404, code: 'not_found' })
  })

  test('one too many is refused, and a place is free again when a socket is gone', async () => {
    await restart({ streams: new StreamQuota(1) })
    const id = await begin(server)
    const reader = await new SocketReader(server, events(id)).open()
    expect(await refusal(server, events(id))).toMatchObject({ status: 503, code: 'overloaded' })
    reader.socket.close()
    await expect.poll(() => server.deps.streams.open, PATIENCE).toBe(0)
    const next = await new SocketReader(server, events(id)).open()
    next.socket.close()
    await next.closed
  })

  test('an invalid handshake does not count as a stream', async () => {
    const id = await begin(server)
    const lines = [
      `GET ${events(id)} HTTP/1.1`,
      'host: 127.0.0.1',
      `authorization: Bearer ${TOKEN}`,
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: short',
    ]
    expect(statusOf(await sendRaw(server.port, `${lines.join('\r\n')}\r\n\r\n`))).toBe(400)
    await expect.poll(() => server.deps.streams.open, PATIENCE).toBe(0)
  })

  test('a ticket opens one socket', async () => {
    const id = await finished(server, STORY)
    const { body } = await call(server, 'POST /v1/tickets')
    const path = events(id, `?ticket=${body.ticket}`)
    expect((await wholeSocket(server, path, { token: '' })).code).toBe(1000)
    expect(await refusal(server, path, { token: '' })).toMatchObject({ status: 401 })
  })

  test('our own origin is allowed', async () => {
    const id = await finished(server, STORY)
    const headers = { origin: server.url, 'sec-fetch-site': 'same-origin' }
    expect((await wholeSocket(server, events(id), { headers })).code).toBe(1000)
  })

  test('an offer of another protocol is passed over, and the request is answered', async () => {
    const body = JSON.stringify({ agent: 'echo' })
    const lines = [
      'POST /v1/sessions HTTP/1.1',
      'host: 127.0.0.1',
      `authorization: Bearer ${TOKEN}`,
      'connection: close, Upgrade, HTTP2-Settings',
      'upgrade: h2c',
      'http2-settings: AAMAAABkAAQAAP__',
      'content-type: application/json',
      `content-length: ${body.length}`,
    ]
    const answer = await sendRaw(server.port, `${lines.join('\r\n')}\r\n\r\n${body}`)
    expect(statusOf(answer)).toBe(201)
  })
})

describe('a reader', () => {
  const FLOOD = script({ flood: { texts: 400, size: 60_000 } }, success)

  test('that reads nothing uses little memory, is closed with a code, and can resume', async () => {
    const timing = { ...server.deps.timing, stallMs: 300 }
    await restart({ timing })
    const id = await finished(server, FLOOD)
    const reader = await new SocketReader(server, events(id)).open()
    reader.socket.pause()
    const [client] = server.app.websocketServer.clients
    if (!client) throw new Error('there is a socket')
    await expect.poll(() => client.readyState, PATIENCE).toBe(client.CLOSING)
    expect(client.bufferedAmount).toBeLessThan(256 * 1024)
    reader.socket.resume()
    expect(await reader.closed).toEqual({ code: 1013, reason: 'too slow; reconnect with your cursor' })
    const had = reader.messages
    expect(had.length).toBeGreaterThan(0)
    // The next readers do read, but a busy machine may give them no turn for 300 ms.
    timing.stallMs = 60_000
    const rest = await wholeSocket(server, events(id, `?after=${had.at(-1)?.seq}`))
    const all = await streamed(server, events(id))
    expect([...had, ...rest.messages]).toEqual(all.map(({ data }) => data))
  })

  test('that reads nothing, not even the close frame, releases its stream', async () => {
    await restart({ timing: { ...server.deps.timing, stallMs: 100 } })
    const id = await finished(server, FLOOD)
    const reader = await new SocketReader(server, events(id)).open()
    reader.socket.pause()
    await expect.poll(() => server.deps.streams.open, { timeout: 5_000 }).toBe(0)
    reader.socket.terminate()
  })

  test('that is silent is pinged and stays open', async () => {
    await restart({ timing: { ...server.deps.timing, keepaliveMs: 20 } })
    const id = await begin(server)
    const reader = new SocketReader(server, events(id))
    await once(reader.socket, 'ping')
    await once(reader.socket, 'ping')
    await call(server, `POST /v1/sessions/${id}/end`)
    expect((await reader.closed).code).toBe(1000)
  })

  test('that does not answer a ping is gone', async () => {
    await restart({ timing: { ...server.deps.timing, keepaliveMs: 20, stallMs: 40 } })
    const id = await begin(server)
    const reader = new SocketReader(server, events(id), { autoPong: false })
    expect((await reader.closed).code).toBe(1006)
    await expect.poll(() => server.deps.streams.open, PATIENCE).toBe(0)
  })

  test('disconnects, and the agent continues', async () => {
    const id = await begin(server, { prompt: script({ ...text('m', 'late'), wait: true }, success) })
    const reader = await new SocketReader(server, events(id)).open()
    reader.socket.terminate()
    await reader.closed
    await server.gate.open()
    expect(await server.sessions.get(id)?.settled(1)).toMatchObject({ outcome: 'completed' })
  })
})

describe('a server that stops', () => {
  test('sends the last event on every socket, and then the reason for closing', async () => {
    const id = await begin(server, { prompt: script({ ...text('m', 'never'), wait: true }, success) })
    await server.gate.reached()
    const reader = await new SocketReader(server, events(id)).open()
    await reader.until(2)
    await server.sessions.drain()
    await server.app.close()
    expect(await reader.closed).toEqual({ code: 1001, reason: 'the server is stopping' })
    expect(reader.messages.at(-1)).toMatchObject({
      event: { type: 'turn.completed', outcome: 'interrupted' },
    })
  })

  test('does not wait for a client that reads nothing', async () => {
    const id = await begin(server)
    const reader = await new SocketReader(server, events(id)).open()
    reader.socket.pause()
    await server.app.close()
    expect(server.app.server.listening).toBe(false)
    reader.socket.terminate()
  })
})
