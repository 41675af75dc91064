import { afterEach, beforeEach, expect, test } from 'vitest'
import { StorageCheck } from '../../../src/gateway/http/storage-check.ts'
import { MainstemError } from '../../../src/model/index.ts'
import { begin, call, fetchFrom, NDJSON, SSE } from '../api.ts'
import { script, success } from '../puppet.ts'
import { startGateway, type TestGateway } from '../start.ts'
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
  server = await startGateway({ storage })
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
