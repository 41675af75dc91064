import { afterEach, beforeEach, expect, test } from 'vitest'
import { memoryStore } from '../../../src/stores/memory.ts'
import { call, fetchFrom, SSE } from '../api.ts'
import { script, success, text } from '../puppet.ts'
import { result } from '../rpc/rpc.ts'
import { startGateway, type TestGateway } from '../start.ts'
import { SocketReader } from '../streams/socket.ts'
import { parseEvents, StreamReader } from '../streams/sse.ts'

// The last commit of a session is stored, but its owner has not been told so. A client of another node has it already
// and comes here with its cursor.
let server: TestGateway
let id: string
let run: string
let head: number
let acknowledge: () => void

beforeEach(async () => {
  const store = memoryStore()
  const append = store.append.bind(store)
  const stored = Promise.withResolvers<void>()
  const acknowledged = Promise.withResolvers<void>()
  store.append = async (session, batch, fence) => {
    await append(session, batch, fence)
    if (!JSON.stringify(batch.entries).includes('"last"')) return
    stored.resolve()
    await acknowledged.promise
  }
  acknowledge = acknowledged.resolve
  server = await startGateway({ store })
  const gated = { ...text('b', 'last'), wait: true }
  run = script(text('a', 'first'), gated, { ...success, wait: true })
  id = (await server.execute({ driver: 'puppet', task: run })).headers.get('mainstem-session') ?? ''
  await server.gate.reached()
  await server.gate.open()
  await stored.promise
  head = await store.head(id)
  expect((await server.sessions.record(id))?.head).toBeLessThan(head)
})

afterEach(async () => {
  acknowledge()
  await server[Symbol.asyncDispose]()
})

test('a page after it is empty', async () => {
  const page = await call(server, `GET /v1/sessions/${id}/events?after=${head}`)
  expect(page).toMatchObject({ status: 200, body: { entries: [], next: `${head}` } })
})

test('a stream after it goes on', async () => {
  const response = await fetchFrom(server, `GET /v1/sessions/${id}/events?after=${head}`, { headers: SSE })
  expect(response.status).toBe(200)
  acknowledge()
  await server.gate.open()
  const reader = new StreamReader(response)
  await reader.until('turn.completed')
  expect(reader.text).not.toContain('"last"')
})

test('a socket after it goes on', async () => {
  const reader = await new SocketReader(server, `/v1/sessions/${id}/events?after=${head}`).open()
  acknowledge()
  await server.gate.open()
  await reader.until(1)
  expect(reader.messages[0]).toMatchObject({ seq: head + 1 })
  reader.socket.close()
})

test('a socket of the board after it is accepted, and closed when the turn is done', async () => {
  const reader = await new SocketReader(server, `/ws/sessions/${id}?after=${head}`).open()
  acknowledge()
  await server.gate.open()
  expect(await reader.closed).toEqual({ code: 1000, reason: 'done' })
  expect(reader.messages).toEqual([])
})

test('an offset that counts its messages is accepted', async () => {
  const at = (offset: number) => call(server, `GET /v1/sessions/${id}/events?offset=${offset}`)
  expect(await at(head)).toMatchObject({ status: 200, body: { next: `${head}` } })
  expect((await at(head + 1)).status).toBe(400)
})

test('a run is continued after it', async () => {
  const [path, headers] = ['/v1/execute?dialect=mainstem', { 'last-event-id': `${head}` }]
  const response = await server.execute({ driver: 'puppet', task: run }, { path, headers })
  expect(response.status).toBe(200)
  acknowledge()
  await server.gate.open()
  const [first] = parseEvents(await response.text())
  expect(first).toMatchObject({ id: `${head + 1}`, data: { session: id } })
})

test('a client of the daemon reconnects after it', async () => {
  const answer = await result(server, 'session.reconnect', { sessionId: id, after: `${head}` })
  expect(answer).toMatchObject({ bufferedEvents: [], cursor: `${head}` })
})

test('a cursor beyond what is stored is refused', async () => {
  const path = `/v1/sessions/${id}/events?after=${head + 1}`
  expect(await call(server, `GET ${path}`)).toMatchObject({ status: 400, body: { field: 'after' } })
})
