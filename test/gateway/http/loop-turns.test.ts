import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { ChunkPace } from '../../../src/gateway/http/body/chunk-pace.ts'
import { MergedMessage } from '../../../src/gateway/http/body/merged-message.ts'
import { readBody } from '../../../src/gateway/http/body/read-body.ts'
import { UploadRoom } from '../../../src/gateway/http/body/upload-room.ts'
import { LoopTurns } from '../../../src/gateway/http/loop-turns.ts'
import { endpointsOf } from '../../../src/gateway/routes.ts'
import { runs } from '../../long.ts'
import { call } from '../api.ts'
import { GUEST, startGateway, type TestGateway, TOKEN, task } from '../start.ts'

let server: TestGateway | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
})

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('a turn of the event loop', () => {
  test('has one piece of work of each principal, in the order in which they came', async () => {
    const turns = new LoopTurns()
    const started: string[] = []
    const take = (principal: string, name: string) => turns.take(principal).then(() => started.push(name))
    const work = [take('a', 'a1'), take('a', 'a2'), take('a', 'a3'), take('b', 'b1'), take('b', 'b2')]
    await nextTurn()
    expect(started).toEqual(['a1', 'b1', 'a2', 'b2'])
    expect(turns.waiting).toBe(1)
    await Promise.all(work)
    expect(started.at(-1)).toBe('a3')
    expect(turns.waiting).toBe(0)
  })

  test('is not waited for by a principal alone', async () => {
    const turns = new LoopTurns()
    let isTaken = false
    void turns.take('a').then(() => {
      isTaken = true
    })
    await Promise.resolve()
    await Promise.resolve()
    expect(isTaken).toBe(true)
  })
})

class CountedTurns extends LoopTurns {
  readonly taken: string[] = []
  override take(principal: string): Promise<void> {
    this.taken.push(principal)
    return super.take(principal)
  }
}

test('every route with a token takes a turn of its principal', async () => {
  const turns = new CountedTurns()
  server = await startGateway({ turns })
  for (const { method, url, auth } of endpointsOf(server.deps)) {
    if (auth === 'open') continue
    turns.taken.splice(0)
    const path = url.replaceAll(/:\w+/g, 'x').replace('*', 'x')
    const response = await fetch(server.url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(auth !== 'body' && { authorization: `Bearer ${GUEST}` }),
      },
      ...(method === 'POST' && { body: JSON.stringify({ ...task(), auth_token: GUEST }) }),
    })
    await response.body?.cancel()
    expect(turns.taken, `${method} ${url}`).toContain('guest')
  }
})

test('a cookie, a ticket and a WebSocket take one too', async () => {
  const turns = new CountedTurns()
  server = await startGateway({ turns })
  const { ticket } = (await call(server, 'POST /v1/tickets', { token: GUEST })).body
  turns.taken.splice(0)
  await (await fetch(`${server.url}/v1/events?ticket=${ticket}`, { method: 'HEAD' })).text()
  expect(turns.taken).toEqual(['guest'])
  const { id } = await server.sessions.create({ agent: 'echo', cwd: server.root, principal: 'guest' })
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/sessions/${id}/events`, {
    headers: { authorization: `Bearer ${GUEST}` },
  })
  await once(socket, 'open')
  expect(turns.taken).toEqual(['guest', 'guest'])
  socket.terminate()
})

const head = (route: string, token: string, more: string) =>
  `${route} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n${more}\r\n`
const JSON_CHUNKS = 'content-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n'
const chunked = (parts: readonly string[]) =>
  `${parts.map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`

test('a connection goes on after a refused body of few chunks that came late', async () => {
  server = await startGateway()
  const socket = connect(server.port, '127.0.0.1')
  socket.write(head('POST /v1/sessions', 'unknown', JSON_CHUNKS.replace('close', 'keep-alive')))
  await once(socket, 'data')
  socket.write(chunked(['{', '}']) + head('GET /v1/agents', TOKEN, 'connection: close\r\n'))
  expect(await text(socket)).toContain('200 OK')
})

test('a body is whole, however it is cut into chunks', async () => {
  const uploads = new UploadRoom(64 * 1024 * 1024)
  const http = createServer({ IncomingMessage: MergedMessage }, async (request, response) => {
    const uploader = { principal: 'ci', ip: '127.0.0.1', headers: {} }
    response.end(await readBody(uploader, request, { limit: 1_000_000, setting: 'bodyBytes', uploads }))
  })
  await once(http.listen(0, '127.0.0.1'), 'listening')
  const address = http.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const size = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 3_000 }))
  await fc.assert(
    fc.asyncProperty(fc.array(size, { minLength: 1, maxLength: 400 }), async (sizes) => {
      const parts = sizes.map((size, index) => String.fromCharCode(97 + (index % 26)).repeat(size))
      const socket = connect(port, '127.0.0.1')
      socket.write(head('POST /', TOKEN, JSON_CHUNKS) + chunked(parts))
      const response = await text(socket)
      expect(response.endsWith(`\r\n\r\n${parts.join('')}`)).toBe(true)
    }),
    { numRuns: runs(30, 300) },
  )
  http.close()
})

describe('the chunks of a client', () => {
  /** Time that passes by waiting only. */
  function paced() {
    let now = 0
    const waits: number[] = []
    const pace = new ChunkPace(
      () => now,
      async (ms) => {
        waits.push(ms)
        now += ms
      },
    )
    return { pace, waits }
  }

  test('have a rate, and a burst after a pause', async () => {
    const { pace, waits } = paced()
    expect(pace.arrived('a', 2_048)).toBe(false)
    expect(pace.arrived('a', 32)).toBe(true)
    await pace.wait('a')
    expect(waits).toEqual([1])
    expect(pace.arrived('a', 3_200)).toBe(true)
    await pace.wait('a')
    // The chunks, and those that were charged for going on.
    expect(waits).toEqual([1, 108])
  })

  test('do not count for another client', () => {
    const { pace } = paced()
    expect(pace.arrived('a', 100_000)).toBe(true)
    expect(pace.arrived('b', 1)).toBe(false)
  })

  test('of thousands of clients are forgotten after a pause, and debts are kept', async () => {
    const { pace } = paced()
    pace.arrived('debtor', 1_000_000)
    for (let count = 0; count < 5_000; count++) pace.arrived(`client ${count}`, 1)
    expect(pace.arrived('debtor', 0)).toBe(true)
  })
})

test('a body of single bytes is read no further than its rate allows, and others are served', async () => {
  const go = Promise.withResolvers<void>()
  let now = 0
  const pace = new ChunkPace(
    () => now,
    async (ms) => {
      await go.promise
      now += ms
    },
  )
  server = await startGateway({ uploads: new UploadRoom(64 * 1024 * 1024, pace) })
  const socket = connect(server.port, '127.0.0.1')
  const prompt = 'x'.repeat(900_000)
  const body = JSON.stringify({ agent: 'echo', prompt })
  socket.write(head('POST /v1/sessions', TOKEN, JSON_CHUNKS))
  // More than the buffers of the system hold.
  socket.write(chunked([...body]))
  const response = text(socket)
  await expect.poll(() => server?.deps.uploads.held).toBeGreaterThan(0)
  const held = server.deps.uploads.held
  for (let count = 0; count < 20; count++) expect((await call(server, 'GET /v1/sessions')).status).toBe(200)
  expect(server.deps.uploads.held).toBe(held)
  expect(held).toBeLessThan(64 * 1024)
  expect(socket.writableLength).toBeGreaterThan(0)
  go.resolve()
  expect(await response).toContain('201 Created')
})

test('chunks after a refusal are not read without an end', async () => {
  server = await startGateway()
  const socket = connect(server.port, '127.0.0.1')
  socket.write(head('POST /v1/sessions', 'unknown', JSON_CHUNKS.replace('close', 'keep-alive')))
  const [response] = await once(socket, 'data')
  expect(String(response)).toContain('401 Unauthorized')
  socket.on('error', () => undefined)
  // More than the buffers of the system hold.
  socket.write('1\r\nx\r\n'.repeat(4_000_000))
  for (let count = 0; count < 20; count++) expect((await call(server, 'GET /v1/sessions')).status).toBe(200)
  expect(socket.writableLength).toBeGreaterThan(0)
  socket.destroy()
})

test('pings that come together are answered one in each turn', async () => {
  server = await startGateway()
  const { id } = await server.sessions.create({ agent: 'echo', cwd: server.root, principal: 'guest' })
  const socket = connect(server.port, '127.0.0.1')
  const upgrade = `connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${'x'.repeat(22)}==\r\n`
  socket.write(head(`GET /v1/sessions/${id}/events`, GUEST, upgrade))
  await once(socket, 'data')
  let received = 0
  socket.on('data', ({ length }: Buffer) => {
    received += length
  })
  socket.write(Buffer.from('898000000000'.repeat(100_000), 'hex'))
  await expect.poll(() => received).toBeGreaterThan(100)
  expect((await call(server, 'GET /v1/sessions')).status).toBe(200)
  expect(received).toBeLessThan(2 * 100_000)
  socket.destroy()
})

test.each([0, 1])('a large response is whole, and has its length, %i', async (shift) => {
  server = await startGateway()
  const { id } = await server.sessions.create({ agent: 'echo', cwd: server.root, principal: 'owner' })
  const prompt = 'x'.repeat(shift) + '😀'.repeat(400_000)
  const session = server.sessions.get(id)
  await session?.settled((await session.prompt(prompt)) ?? 1)
  const response = await fetch(`${server.url}/v1/sessions/${id}/events`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(response.headers.get('content-length')).toBe(String(bytes.length))
  expect(JSON.stringify(JSON.parse(bytes.toString()))).toContain(prompt)
})

test('the list of agents is made once for all who ask within a second, and again after a failure', async () => {
  let asked = 0
  server = await startGateway({
    agents: async () => {
      if (++asked === 1) throw new Error('no agents')
      return []
    },
  })
  expect((await call(server, 'GET /v1/agents')).status).toBe(500)
  for (const token of [TOKEN, GUEST, TOKEN])
    expect((await call(server, 'GET /v1/agents', { token })).status).toBe(200)
  expect(asked).toBe(2)
})
