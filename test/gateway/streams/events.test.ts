import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects } from '../../../src/dialects/index.ts'
import { StreamQuota } from '../../../src/gateway/streams/stream-quota.ts'
import { Entry } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { FIRST_FENCE } from '../../../src/stores/store.ts'
import { begin, call, fetchFrom, finished, NDJSON, SSE, streamed } from '../api.ts'
import { script, success, text } from '../puppet.ts'
import { startGateway, type TestGateway, TOKEN } from '../start.ts'
import { parseEvents, StreamReader } from './sse.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const STORY = script(
  { say: { type: 'thinking.completed', messageId: 't', text: 'hm' } },
  { say: { type: 'tool.started', toolId: 'c1', name: 'Read', kind: 'read', input: { path: 'a' } } },
  {
    say: { type: 'tool.completed', toolId: 'c1', name: 'Read', kind: 'read', status: 'success', output: 'a' },
  },
  text('m', 'a\u2028b'),
  success,
)
const events = (id: string, query = '') => `/v1/sessions/${id}/events${query}`
const seqs = (list: unknown) => (list as { seq: number }[]).map(({ seq }) => seq)

describe('a stream', () => {
  test('has every entry once, in order, and ends with the session', async () => {
    const id = await finished(server, STORY)
    const all = await streamed(server, events(id))
    expect(all.map(({ id }) => id)).toEqual(all.map((_, index) => `${index + 1}`))
    for (const { data } of all) expect(Entry.safeParse(data).error).toBeUndefined()
    expect(all.at(-1)?.data).toMatchObject({ event: { type: 'session.ended' } })
  })

  test('is replay and then live, without a seam', async () => {
    const id = await begin(server, {
      prompt: script(text('m', 'one'), { ...text('n', 'two'), wait: true }, success),
    })
    await server.gate.reached()
    const reader = new StreamReader(await fetchFrom(server, `GET ${events(id)}`, { headers: SSE }))
    await reader.until('"one"')
    expect(reader.text).not.toContain('"two"')
    await server.gate.open()
    await reader.until('turn.completed')
    await call(server, `POST /v1/sessions/${id}/end`)
    expect(await reader.whole()).toContain('session.ended')
    expect(parseEvents(reader.text)).toEqual(await streamed(server, events(id)))
  })

  test('of lines has the same entries', async () => {
    const id = await finished(server, STORY)
    const response = await fetchFrom(server, `GET ${events(id)}`, { headers: NDJSON })
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = (await response.text()).split('\n').filter((line) => line !== '')
    const all = await streamed(server, events(id))
    expect(lines.map((line) => JSON.parse(line))).toEqual(all.map(({ data }) => data))
  })

  test.each([...dialects.keys()])('in %s can be resumed after every id', async (dialect) => {
    const id = await finished(server, STORY)
    const whole = await streamed(server, events(id, `?dialect=${dialect}`))
    expect(whole.length).toBeGreaterThan(2)
    for (const [index, { id: last }] of whole.slice(0, -1).entries()) {
      const rest = whole.slice(index + 1)
      expect(await streamed(server, events(id, `?dialect=${dialect}`), { 'last-event-id': last })).toEqual(
        rest,
      )
      expect(await streamed(server, events(id, `?dialect=${dialect}&after=${last}`))).toEqual(rest)
    }
  })

  test('can be cut at any byte and resumed without loss or repetition', async () => {
    const id = await finished(server, STORY)
    const whole = await (await fetchFrom(server, `GET ${events(id)}`, { headers: SSE })).text()
    for (let cut = 0; cut < whole.length; cut += 97) {
      const seen = parseEvents(whole.slice(0, whole.lastIndexOf('\n\n', cut) + 2))
      const last = seen.at(-1)?.id
      const rest = await streamed(server, events(id), last === undefined ? {} : { 'last-event-id': last })
      expect([...seen, ...rest]).toEqual(parseEvents(whole))
    }
  })

  test('prefers Last-Event-ID to the query', async () => {
    const id = await finished(server, STORY)
    const rest = await streamed(server, events(id, '?after=1'), { 'last-event-id': '3' })
    expect(rest[0]?.id).toBe('4')
  })

  test('without further events tells a browser not to reconnect', async () => {
    const id = await finished(server, STORY)
    const { body } = await call(server, `GET /v1/sessions/${id}`)
    const headers = { 'last-event-id': `${body.head}` }
    const over = await fetchFrom(server, `GET ${events(id)}`, { headers: { ...SSE, ...headers } })
    expect(over.status).toBe(204)
    const lines = await fetchFrom(server, `GET ${events(id, `?after=${body.head}`)}`, { headers: NDJSON })
    expect([lines.status, await lines.text()]).toEqual([200, ''])
  })

  test('that was cut among the messages of the last entry has the rest of them', async () => {
    const id = await begin(server)
    await call(server, `POST /v1/sessions/${id}/end`)
    const path = events(id, '?dialect=execute')
    const all = await streamed(server, path)
    expect(all).toHaveLength(2)
    const [first, last] = all.map(({ id }) => String(id))
    expect(await streamed(server, path, { 'last-event-id': first ?? '' })).toEqual(all.slice(1))
    const headers = { ...SSE, 'last-event-id': last ?? '' }
    expect((await fetchFrom(server, `GET ${path}`, { headers })).status).toBe(204)
  })

  test('shows only the requested types, with their ids', async () => {
    const id = await finished(server, STORY)
    const all = await streamed(server, events(id))
    const types = ['tool.started', 'turn.completed']
    const some = await streamed(server, events(id, `?types=${types}`))
    expect(some.map(({ data }) => (data.event as { type: string }).type)).toEqual(types)
    expect(all).toEqual(expect.arrayContaining(some))
  })

  test('shows the raw frame beside each entry that came from one', async () => {
    const id = await finished(server, STORY)
    const all = await streamed(server, events(id, '?raw=1'))
    const tool = all.find(({ data }) => (data.event as { type: string }).type === 'tool.started')
    expect(JSON.parse(String(tool?.data.raw))).toMatchObject({ type: 'tool.started', toolId: 'c1' })
    const plain = all.map(({ id, data: { raw: _, ...data } }) => ({ id, data }))
    expect(plain).toEqual(await streamed(server, events(id)))
    expect(all.filter(({ data }) => 'raw' in data).length).toBe(
      all.filter(({ data }) => 'native' in data).length,
    )
  })

  test('counts among those of its principal', async () => {
    await using small = await startGateway({ streams: new StreamQuota(1) })
    const id = await begin(small)
    const reader = new StreamReader(await fetchFrom(small, `GET ${events(id)}`, { headers: SSE }))
    await reader.until('session.started')
    expect((await call(small, `GET ${events(id)}`, { headers: SSE })).status).toBe(503)
    // A page that does not wait is none.
    expect((await call(small, `GET ${events(id)}`)).status).toBe(200)
  })

  test('answers HEAD without beginning', async () => {
    const id = await begin(server)
    const response = await fetchFrom(server, `HEAD ${events(id)}`, { headers: SSE })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  })

  test('is disconnected when its client reads nothing, and the run continues', {
    timeout: 30_000,
  }, async () => {
    const timing = { keepaliveMs: 60_000, pingMs: 60_000, stallMs: 200, headersMs: 10_000, requestMs: 30_000 }
    await using busy = await startGateway({ timing })
    const id = await begin(busy, { prompt: script({ flood: { texts: 4_000, size: 2500 } }, success) })
    const closed = new Promise<boolean>((resolve) => {
      busy.app.server.once('request', (_, response) => {
        response.once('close', () => resolve(response.writableFinished))
      })
    })
    const socket = connect(busy.port, '127.0.0.1')
    socket.pause()
    socket.write(
      `GET ${events(id)} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`,
    )
    expect(await closed).toBe(false)
    socket.destroy()
    await busy.sessions.get(id)?.settled(1)
    // Not read as a stream: on a busy machine this process may be the slow reader itself.
    expect(await busy.sessions.head(id)).toBeGreaterThan(4_000)
  })
})

describe('a page', () => {
  test('follows on a page until there is no more', async () => {
    const id = await finished(server, STORY)
    const seen: number[] = []
    let next = '0'
    for (;;) {
      const { body } = await call(server, `GET ${events(id, `?limit=3&after=${next}`)}`)
      expect(seqs(body.entries).length).toBeLessThanOrEqual(3)
      seen.push(...seqs(body.entries))
      if ((body.entries as unknown[]).length === 0) {
        expect(body.next).toBe(next)
        break
      }
      next = String(body.next)
    }
    expect(seen).toEqual(seen.map((_, index) => index + 1))
    expect(seen.length).toBeGreaterThan(6)
  })

  test.each([...dialects.keys()])('of one message at a time in %s adds up to the stream', async (dialect) => {
    const id = await finished(server, STORY)
    const whole = (await streamed(server, events(id, `?dialect=${dialect}`))).map(({ data }) => data)
    const seen: unknown[] = []
    let next = '0'
    for (;;) {
      const { body } = await call(server, `GET ${events(id, `?dialect=${dialect}&limit=1&after=${next}`)}`)
      const messages = (body.entries ?? body.messages) as unknown[]
      if (messages.length === 0) break
      expect(messages).toHaveLength(1)
      seen.push(...messages)
      next = String(body.next)
    }
    expect(seen).toEqual(whole)
  })

  test('has 100 entries without a limit, and the next one continues there', async () => {
    const id = await finished(server, script({ flood: { texts: 150, size: 1 } }, success))
    const first = (await call(server, `GET ${events(id)}`)).body
    expect(seqs(first.entries)).toHaveLength(100)
    const second = (await call(server, `GET ${events(id, `?after=${first.next}`)}`)).body
    expect(seqs(second.entries)[0]).toBe(101)
  })

  test('with rare types continues after the skipped entries', async () => {
    const id = await finished(server, STORY)
    const { body } = await call(server, `GET ${events(id, '?types=session.ended')}`)
    expect(body.entries).toHaveLength(1)
    const none = await call(server, `GET ${events(id, '?types=file.changed')}`)
    expect(none.body).toEqual({ entries: [], next: body.next })
  })

  test('that would be empty waits for a message', async () => {
    const id = await begin(server)
    const page = call(server, `GET ${events(id, '?after=1&wait=60')}`)
    await call(server, `POST /v1/sessions/${id}/turns`, { body: { prompt: script(success) } })
    const { body } = await page
    expect(seqs(body.entries)[0]).toBe(2)
  })

  test('waits no longer than requested, and not at all for an ended session', async () => {
    const id = await begin(server)
    expect((await call(server, `GET ${events(id, '?after=1&wait=1')}`)).body).toEqual({
      entries: [],
      next: '1',
    })
    await call(server, `POST /v1/sessions/${id}/end`)
    expect((await call(server, `GET ${events(id, '?after=2&wait=60')}`)).body).toEqual({
      entries: [],
      next: '2',
    })
  })

  test('has the raw frames too', async () => {
    const id = await finished(server, STORY)
    const { body } = await call(server, `GET ${events(id, '?raw=1&types=tool.started')}`)
    expect(body.entries).toMatchObject([{ raw: expect.stringContaining('tool.started') }])
  })
})

describe('a cursor', () => {
  test.each(['x', '-1', '1.', '1.0', '01', '1e3', ' 1', '1.1.1', '9'.repeat(20)])(
    '%j is refused',
    async (cursor) => {
      const id = await begin(server)
      const query = `?after=${encodeURIComponent(cursor)}`
      expect(await call(server, `GET ${events(id, query)}`)).toMatchObject({
        status: 400,
        body: { field: 'after' },
      })
    },
  )

  test('beyond the end is refused, on a page and on a stream', async () => {
    const id = await begin(server)
    const answers = [
      await call(server, `GET ${events(id, '?after=2')}`),
      await call(server, `GET ${events(id, '?after=2')}`, { headers: SSE }),
      await call(server, `GET ${events(id)}`, { headers: { ...NDJSON, 'last-event-id': '2' } }),
    ]
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  })

  test('with removed entries reports the first retained one', async () => {
    const store = memoryStore()
    await using forgetful = await startGateway({ store })
    const id = await finished(forgetful, STORY)
    await store.trim(id, { seq: 4 }, FIRST_FENCE)
    for (const headers of [SSE, NDJSON, {}]) {
      const answer = await call(forgetful, `GET ${events(id, '?after=1')}`, { headers })
      expect(answer).toMatchObject({ status: 410, body: { code: 'cursor_gone', earliest: 4 } })
    }
    expect((await call(forgetful, `GET ${events(id, '?after=3')}`)).status).toBe(200)
    expect((await streamed(forgetful, events(id)))[0]?.id).toBe('4')
    // What other dialects say depends on the beginning.
    expect((await call(forgetful, `GET ${events(id, '?dialect=execute')}`)).status).toBe(410)
  })
})

test.each([
  'types=',
  'types=nothing',
  'types=tool.started,x',
  'dialect=x',
  'raw=2',
  'limit=0',
  'limit=1001',
  'wait=61',
  'after=1&after=2',
  'x=1',
])('?%s is refused', async (query) => {
  const id = await begin(server)
  expect((await call(server, `GET ${events(id, `?${query}`)}`)).status).toBe(400)
})

test.each(['limit=1', 'wait=1'])('a stream has no ?%s', async (query) => {
  const id = await begin(server)
  expect((await call(server, `GET ${events(id, `?${query}`)}`, { headers: SSE })).status).toBe(400)
})
