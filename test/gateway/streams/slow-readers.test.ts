import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { StreamQuota } from '../../../src/gateway/streams/stream-quota.ts'
import { begin, call, fetchFrom, SSE, streamed } from '../api.ts'
import { script, success } from '../puppet.ts'
import { startGateway, type TestGateway, TOKEN } from '../start.ts'

const TEXTS = 400
const CHARS = 40_000
/** What one reader may hold of our memory: a chunk that is prepared, and what its socket has been given. */
const HELD_BYTES = 512 * 1024
const READERS = 200

let server: TestGateway | undefined
afterEach(() => server?.[Symbol.asyncDispose]())

/** The text of a response on a socket that was opened and not read. */
function neverReading({ port }: TestGateway, path: string): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.pause()

  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n`)
  socket.write('Accept: text/event-stream\r\n\r\n')
  return socket
}

test('a client that reads nothing uses bounded memory and loses nothing', async () => {
  server = await startGateway()
  const responses: ServerResponse[] = []
  server.app.server.on('request', (_, response) => responses.push(response))
  const id = await begin(server)
  const socket = neverReading(server, `/v1/sessions/${id}/events`)
  await expect
    .poll(() => responses.some((response) => response.headersSent && !response.writableEnded))
    .toBe(true)
  const stalled = responses.find((response) => !response.writableEnded)

  let most = 0
  const watching = setInterval(() => {
    most = Math.max(most, stalled?.writableLength ?? 0)
  })
  const prompt = script({ flood: { texts: TEXTS, size: CHARS } }, success)
  await call(server, `POST /v1/sessions/${id}/turns`, { body: { prompt } })
  await server.sessions.get(id)?.settled(1)
  await call(server, `POST /v1/sessions/${id}/end`)
  await expect.poll(() => stalled?.writableNeedDrain).toBe(true)
  clearInterval(watching)
  most = Math.max(most, stalled?.writableLength ?? 0)
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(HELD_BYTES)

  const ids: number[] = []
  let rest = ''
  const read = new Promise((resolve) => socket.once('close', resolve))
  socket.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('id: ')) ids.push(Number(line.slice(4)))
  })
  socket.resume()
  await read
  const head = (await server.sessions.head(id)) ?? 0
  expect(head).toBeGreaterThan(TEXTS)
  expect(ids).toEqual(Array.from({ length: head }, (_, index) => index + 1))
})

test('a client that was disconnected for reading nothing resumes with its last id', async () => {
  const timing = { keepaliveMs: 60_000, pingMs: 30_000, stallMs: 50, headersMs: 10_000, requestMs: 30_000 }
  server = await startGateway({ timing })
  const id = await begin(server)
  const socket = neverReading(server, `/v1/sessions/${id}/events`)
  await expect.poll(() => server?.deps.streams.open).toBe(1)
  const prompt = script({ flood: { texts: TEXTS, size: CHARS } }, success)
  await call(server, `POST /v1/sessions/${id}/turns`, { body: { prompt } })
  await server.sessions.get(id)?.settled(1)
  await call(server, `POST /v1/sessions/${id}/end`)
  await expect.poll(() => server?.deps.streams.open).toBe(0)
  // The next reader does read, but a busy machine may give it no turn for 50 ms.
  timing.stallMs = 60_000

  let text = ''
  const read = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  socket.resume()
  await read
  // Only what arrived whole counts: the last piece may be cut.
  const had = [...text.matchAll(/id: (\d+)\ndata: \{[^\n]*\}\r?\n\r?\n/g)].map(([, seq]) => Number(seq))
  const last = had.at(-1) ?? 0
  const head = await server.sessions.head(id)
  expect(last).toBeLessThan(head)
  const more = await streamed(server, `/v1/sessions/${id}/events`, { 'last-event-id': String(last) })
  expect(more.map((event) => Number(event.id))).toEqual(
    Array.from({ length: head - last }, (_, index) => last + 1 + index),
  )
})

test(`${READERS} clients of one session all reach the end, with the same bytes`, async () => {
  const limits = {
    bodyBytes: 1024 * 1024,
    imageBytes: 16 * 1024 * 1024,
    jsonDepth: 64,
    connections: 2 * READERS,
  }
  server = await startGateway({ limits, streams: new StreamQuota(READERS) })
  const id = await begin(server)
  const { sessions } = server
  const path = `GET /v1/sessions/${id}/events`
  const responses = await Promise.all(
    Array.from({ length: READERS }, () => fetchFrom(server as TestGateway, path, { headers: SSE })),
  )
  const texts = Promise.all(responses.map((response) => response.text()))
  const prompt = script({ flood: { texts: 50, size: 200 } }, success)
  await call(server, `POST /v1/sessions/${id}/turns`, { body: { prompt } })
  await sessions.get(id)?.settled(1)
  await call(server, `POST /v1/sessions/${id}/end`)
  const all = await texts
  expect(all).toHaveLength(READERS)
  expect(all[0]).toContain('session.ended')
  expect(new Set(all).size).toBe(1)
})
