import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { begin, call, fetchFrom, finished, NDJSON, SSE } from '../api.ts'
import { script, success, text } from '../puppet.ts'
import { GUEST, startGateway, type TestGateway } from '../start.ts'
import { parseEvents, StreamReader } from './sse.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const open = async (query = '', headers: Record<string, string> = SSE, token?: string) => {
  const response = await fetchFrom(server, `GET /v1/events${query}`, {
    headers,
    ...(token !== undefined && { token }),
  })
  expect(response.status).toBe(200)
  return { cursor: response.headers.get('mainstem-cursor') ?? '', reader: new StreamReader(response) }
}

/** Reads on until the stream has this text, and gives what came so far. */
async function until(reader: StreamReader, ...texts: string[]) {
  for (const text of texts) await reader.until(text)
  return parseEvents(reader.text).filter(({ data }) => data.seq !== undefined)
}

const keyOf = ({ data }: { data: Record<string, unknown> }) => `${data.session} ${data.seq}`

test('the events of every session are streamed, each log in its order', async () => {
  const { reader } = await open()
  const ids = [
    await finished(server, script(text('m', 'one'), success)),
    await finished(server, script(success)),
  ]
  const seen = await until(reader, `${ids[1]}`, 'session.ended","reason":"completed"}')
  for (const id of ids.slice(0, 1)) {
    const own = seen.filter(({ data }) => data.session === id).map(({ data }) => data.seq)
    expect(own).toEqual(own.map((_, index) => index + 1))
    expect(own.length).toBeGreaterThan(3)
  }
})

describe('a cursor', () => {
  test('is a position: the rest follows after each of them', async () => {
    const { cursor } = await open()
    const ids = [
      await finished(server, script(text('m', 'a'), success)),
      await finished(server, script(success)),
    ]
    const last = `"session.ended","reason":"completed"}`
    const { reader } = await open(`?after=${cursor}`)
    const head = (await call(server, `GET /v1/sessions/${ids[1]}`)).body.head
    const whole = await until(reader, `"seq":${head},"session":"${ids[1]}"`, last)
    const all = whole.length
    expect(all).toBeGreaterThan(8)
    for (const [index, { id }] of whole.slice(0, -1).entries()) {
      const again = await open('', { ...SSE, 'last-event-id': id })
      const rest = await until(again.reader, `"seq":${head},"session":"${ids[1]}"`)
      expect(rest.map(keyOf)).toEqual(whole.slice(index + 1).map(keyOf))
    }
  })

  test('is known before anything happens, so that nothing falls between two streams', async () => {
    const { cursor, reader } = await open()
    expect(cursor).toMatch(/^[0-9a-f]{8}-0$/)
    await reader.until(`id: ${cursor}\n\n`)
    const id = await begin(server)
    const { reader: later } = await open('', { ...SSE, 'last-event-id': cursor })
    expect((await until(later, id)).map(({ data }) => data.session)).toEqual([id])
  })

  test('without one it is live from now on', async () => {
    const before = await begin(server)
    const { reader } = await open()
    const after = await begin(server)
    await until(reader, after)
    expect(reader.text).not.toContain(before)
  })

  test.each(['x', '1', '00000000-x', '-1'])('%j is refused', async (cursor) => {
    expect((await call(server, `GET /v1/events?after=${cursor}`)).status).toBe(400)
  })

  test('beyond the end is refused, and one of another process is gone', async () => {
    const { cursor } = await open()
    const [process] = cursor.split('-')
    expect((await call(server, `GET /v1/events?after=${process}-1`)).status).toBe(400)
    const other = await call(server, 'GET /v1/events?after=00000000-0')
    expect(other).toMatchObject({ status: 410, body: { code: 'cursor_gone' } })
  })
})

test('lines carry their cursor', async () => {
  const { cursor, reader } = await open('', NDJSON)
  const id = await begin(server)
  await reader.until('\n')
  const entry = JSON.parse(reader.text)
  expect(entry).toMatchObject({ session: id, seq: 1, cursor: expect.stringMatching(/-1$/) })
  expect(cursor).toMatch(/-0$/)
})

test('only the requested types are streamed', async () => {
  const { reader } = await open('?types=session.ended')
  await finished(server, script(text('m', 'a'), success))
  const seen = await until(reader, 'session.ended')
  expect(seen.map(({ data }) => (data.event as { type: string }).type)).toEqual(['session.ended'])
})

test('sessions of another principal are not streamed', async () => {
  const { reader } = await open('', SSE, GUEST)
  const mine = await begin(server)
  const theirs = await begin(server, {}, { token: GUEST })
  await until(reader, theirs)
  expect(reader.text).not.toContain(mine)
})

test('a session that was deleted meanwhile is skipped', async () => {
  const { cursor } = await open()
  const gone = await begin(server)
  await call(server, `DELETE /v1/sessions/${gone}`)
  const kept = await begin(server)
  const { reader } = await open(`?after=${cursor}`)
  await until(reader, kept)
  expect(reader.text).not.toContain(gone)
})
