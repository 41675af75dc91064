import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { script, text } from '../puppet.ts'
import { sendRaw, statusOf } from '../raw.ts'
import { GUEST, startGateway, type TestGateway, TOKEN } from '../start.ts'
import { StreamReader } from '../streams/sse.ts'

const held: Socket[] = []
let server: TestGateway | undefined
afterEach(async () => {
  for (const socket of held.splice(0)) socket.destroy()
  await server?.[Symbol.asyncDispose]()
  server = undefined
})

const limits = (connections: number) => ({
  bodyBytes: 1024 * 1024,
  imageBytes: 16 * 1024 * 1024,
  jsonDepth: 64,
  connections,
})

/** Opens a connection, sends the bytes and waits for nothing. */
async function hold({ port }: TestGateway, bytes = '', from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  held.push(socket)
  // Which of them are closed is what the tests ask about.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (bytes !== '') socket.write(bytes)
  return socket
}

/** A connection that got an answer and is kept alive. */
async function keepAlive(server: TestGateway, headers = '', from?: string): Promise<Socket> {
  const socket = await hold(server, `GET /healthz HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`, from)
  await once(socket, 'data')
  return socket
}

const AGENTS = (token: string) =>
  `GET /v1/agents HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n\r\n`

const listAgents = async ({ port }: TestGateway, token = TOKEN) =>
  statusOf(await sendRaw(port, AGENTS(token)))

const UPLOAD =
  'POST /v1/execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{'

describe('a client with a token gets an answer while more connections than there may be', () => {
  test.each([
    ['send nothing', ''],
    ['send half a header', 'GET /v1/agents HTTP/1.1\r\nx-slow: '],
    ['send half a body', UPLOAD],
    ['are kept alive', 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'],
    ['were refused', 'GET /v1/agents HTTP/1.1\r\nhost: localhost\r\n\r\n'],
  ])('%s', { timeout: 30_000 }, async (_, bytes) => {
    server = await startGateway({ limits: limits(1024) })
    for (let count = 0; count < 1100; count++) await hold(server, bytes)
    expect(await listAgents(server)).toBe(200)
    expect(await listAgents(server, GUEST)).toBe(200)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })
})

test('connections without a token do not close a stream, an idle connection or a socket with one', async () => {
  server = await startGateway({ limits: limits(16) })
  const waiting = {
    driver: 'puppet',
    task: script({ ...text('m1', 'one') }, { ...text('m2', 'two'), wait: true }),
  }
  const stream = new StreamReader(await server.execute(waiting))
  await stream.until('"one"')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = async () => {
    const call = request(`${server?.url}/v1/agents`, {
      agent,
      headers: { authorization: `Bearer ${TOKEN}` },
    }).end()
    const [response] = await once(call, 'response')
    response.resume()
    await once(response, 'end')
    return { status: response.statusCode, reused: call.reusedSocket }
  }
  expect(await ask()).toEqual({ status: 200, reused: false })
  for (let count = 0; count < 40; count++) await hold(server)
  expect(await ask()).toEqual({ status: 200, reused: true })
  agent.destroy()
  await server.gate.open()
  expect(await stream.whole()).toContain('"two"')
})

test('of connections without a token those between two requests are closed first', async () => {
  server = await startGateway({ limits: limits(8) })
  const silent = await hold(server)
  const idle = await keepAlive(server)
  const others = [await hold(server), await hold(server)]
  const closed = once(idle, 'close')
  await hold(server)
  await closed
  expect([silent, ...others].map(({ closed }) => closed)).toEqual([false, false, false])
  const oldest = once(silent, 'close')
  await hold(server)
  await oldest
})

test('an address with many connections does not close those of another address', async () => {
  server = await startGateway({ limits: limits(16) })
  const other = await hold(server, '', '127.0.0.2')
  for (let count = 0; count < 40; count++) await hold(server)
  await expect.poll(() => held.filter(({ closed }) => !closed).length).toBe(9)
  expect(other.closed).toBe(false)
  // Three quarters are for all addresses together: the largest makes room.
  for (let count = 0; count < 4; count++) await hold(server, '', '127.0.0.3')
  await expect.poll(() => held.filter(({ closed }) => !closed).length).toBe(12)
  expect(held.slice(-4).every(({ closed }) => !closed)).toBe(true)
  expect(other.closed).toBe(false)
})

test('a new connection of a principal at its share replaces an idle one of it', async () => {
  server = await startGateway({ limits: limits(8) })
  const kept: Socket[] = []
  for (let count = 0; count < 6; count++) kept.push(await keepTrusted(server))
  const [first, ...others] = kept
  if (!first) throw new Error('not kept')
  const closed = once(first, 'close')
  expect(await listAgents(server)).toBe(200)
  await closed
  expect(others.every((one) => !one.closed)).toBe(true)
})

test('many requests at once on one connection are all answered, without a warning about listeners', async () => {
  server = await startGateway()
  const warnings: Error[] = []
  const warned = (warning: Error) => void warnings.push(warning)
  process.on('warning', warned)
  const more = AGENTS(TOKEN).replace('connection: close', 'connection: keep-alive')
  const answers = await sendRaw(server.port, more.repeat(99) + AGENTS(TOKEN))
  process.off('warning', warned)
  expect(answers.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(100)
  expect(warnings).toEqual([])
})

async function keepTrusted(server: TestGateway): Promise<Socket> {
  const socket = await hold(server, AGENTS(TOKEN).replace('connection: close\r\n', ''))
  await once(socket, 'data')
  return socket
}
