import { afterEach, beforeEach, expect, test } from 'vitest'
import { MainstemClient } from '../../../src/client/mainstem-client.ts'
import { StorageCheck } from '../../../src/gateway/http/storage-check.ts'
import { MainstemError } from '../../../src/model/index.ts'
import { begin, call, fetchFrom, NDJSON, SSE } from '../api.ts'
import { script, success } from '../puppet.ts'
import { create, open as openExchange } from '../rpc/rpc.ts'
import { startGateway, type TestGateway, TOKEN } from '../start.ts'
import { SocketReader } from './socket.ts'
import { StreamReader } from './sse.ts'

let server: TestGateway
let isFailing: boolean
/** Beyond what the check remembers, at every call. */
let now = 0
const probe = async () => {
  if (isFailing) throw new MainstemError('storage_failed', '/var/lib/mainstem: the disk is full')
}

beforeEach(async () => {
  isFailing = false
  const storage = new StorageCheck({ probe, report: () => undefined }, () => (now += 10_000))
  server = await startGateway({ storage, ceiling: { approval: 'auto-all', sandbox: 'full-access' } })
})
afterEach(() => server[Symbol.asyncDispose]())

async function become(failing: boolean): Promise<void> {
  isFailing = failing
  await server.deps.storage.run().catch((thrown: unknown) => thrown)
}

async function idleSession(): Promise<string> {
  const id = await begin(server, { prompt: script(success) })
  await server.sessions.get(id)?.ended(1)
  return id
}

const DEGRADED = {
  type: 'server.degraded',
  code: 'storage_failed',
  message: 'the store is not writable; see the server log',
  since: expect.any(Number),
}
const RECOVERED = { type: 'server.recovered' }

const open = async (path: string, headers: Record<string, string>) =>
  new StreamReader(await fetchFrom(server, `GET ${path}`, { headers }))

test('while storage fails, every stream of server-sent events says so in a comment, and when it ends', async () => {
  const id = await idleSession()
  const streams = await Promise.all([
    open(`/v1/sessions/${id}/events`, SSE),
    open(`/v1/sessions/${id}/events?dialect=ues`, SSE),
    open('/v1/events', SSE),
    server
      .execute({ driver: 'puppet', task: script({ wait: true }, success) })
      .then((one) => new StreamReader(one)),
  ])
  await become(true)
  for (const stream of streams)
    await stream.until(`: server.degraded storage_failed: ${DEGRADED.message}\n\n`)
  // One that is opened meanwhile is silent otherwise.
  const late = await open('/v1/events', SSE)
  await late.until(': server.degraded storage_failed')
  await become(false)
  for (const stream of [...streams, late]) await stream.until(': server.recovered\n\n')
  for (const stream of streams) expect(stream.text).not.toContain('/var/lib')
})

test('`notices` makes them messages of each kind of stream, without an id', async () => {
  const id = await idleSession()
  const own = `/v1/sessions/${id}/events?notices=1`
  const events = await Promise.all([open(own, SSE), open('/v1/events?notices=1', SSE)])
  const lines = await Promise.all([open(own, NDJSON), open('/v1/events?notices=1', NDJSON)])
  const silent = await open('/v1/events', NDJSON)
  const socket = await new SocketReader(server, own).open()
  await become(true)
  const { since } = server.deps.storage.failure ?? {}
  const json = JSON.stringify({ ...DEGRADED, since })
  for (const stream of events) await stream.until(`\n\nevent: server.degraded\ndata: ${json}\n\n`)
  for (const stream of lines) await stream.until(`${json}\n`)
  await expect.poll(() => socket.messages.at(-1)).toEqual(DEGRADED)
  await become(false)
  for (const stream of events)
    await stream.until(`event: server.recovered\ndata: ${JSON.stringify(RECOVERED)}\n\n`)
  for (const stream of lines) await stream.until(`${JSON.stringify(RECOVERED)}\n`)
  await expect.poll(() => socket.messages.at(-1)).toEqual(RECOVERED)
  expect(silent.text).toBe('')
  socket.socket.close()
})

test('`notices` makes them messages of the sockets of other protocols, and of JSON-RPC', async () => {
  // Boards close the socket of a session at rest.
  const id = await begin(server, { prompt: script({ wait: true }, success) })
  await server.gate.reached()
  const paths = ['', '&dialect=unified', '&dialect=mainstem'].map(
    (more) => `/ws/sessions/${id}?notices=1${more}`,
  )
  const sockets = await Promise.all(paths.map((path) => new SocketReader(server, path).open()))
  const silent = await new SocketReader(server, `/ws/sessions/${id}`).open()
  const exchange = async (path: string) =>
    openExchange(server, await create(server, { cli_type: 'puppet' }), script({ wait: true }, success), {
      path,
    })
  const [asking, other] = [await exchange('/rpc?notices=1'), await exchange('/rpc')]
  const count = silent.messages.length
  await become(true)
  for (const socket of sockets) await expect.poll(() => socket.messages.at(-1)).toEqual(DEGRADED)
  await asking.until('data: {"type":"server.degraded","code":"storage_failed"')
  await become(false)
  for (const socket of sockets) await expect.poll(() => socket.messages.at(-1)).toEqual(RECOVERED)
  await asking.until(`data: ${JSON.stringify(RECOVERED)}\n\n`)
  expect(asking.text).not.toMatch(/^(event|:)/m)
  expect(other.text).not.toContain('server.')
  expect(silent.messages).toHaveLength(count)
  for (const { socket } of [...sockets, silent]) socket.close()
})

test('a client is told of a failure and of its end, also over a new connection', async () => {
  const id = await idleSession()
  const client = new MainstemClient({ baseUrl: server.url, token: TOKEN, retry: { minDelayMs: 1 } })
  const [notices, stop]: [string[], AbortController] = [[], new AbortController()]
  const onNotice = ({ type }: { type: string }) => notices.push(type)
  let opened = 0
  const onConnection = (state: string) => (opened += state === 'open' ? 1 : 0)
  const reading = [
    client.entries(id, { signal: stop.signal, onNotice, onConnection }),
    client.live({ signal: stop.signal, onNotice, onConnection }),
  ].map(async (entries) => {
    for await (const { seq } of entries) expect(seq).toBeGreaterThan(0)
  })
  await expect.poll(() => opened).toBe(2)
  await become(true)
  await expect.poll(() => notices).toEqual(['server.degraded', 'server.degraded'])
  server.app.server.closeAllConnections()
  await expect.poll(() => opened).toBe(4)
  // Still degraded: each says so again.
  await expect
    .poll(() => notices.slice(2).sort())
    .toEqual(['server.degraded', 'server.degraded', 'server.recovered', 'server.recovered'])
  await become(false)
  await expect.poll(() => notices.slice(6)).toEqual(['server.recovered', 'server.recovered'])
  stop.abort()
  await Promise.allSettled(reading)
})

test('`GET /v1/server` says since when', async () => {
  const degraded = async () => (await call(server, 'GET /v1/server')).body.degraded
  expect(await degraded()).toBeUndefined()
  await become(true)
  const { type: _, ...failure } = DEGRADED
  expect(await degraded()).toEqual(failure)
  await become(true)
  await become(false)
  expect(await degraded()).toBeUndefined()
})

test('a stream that ended is not written to', async () => {
  const id = await idleSession()
  const stream = await open(`/v1/sessions/${id}/events`, SSE)
  await call(server, `POST /v1/sessions/${id}/end`)
  await stream.whole()
  await become(true)
  expect(server.reported).toEqual([])
})
