import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects } from '../../../src/dialects/index.ts'
import { call, fetchFrom, streamed } from '../api.ts'
import { type Cue, script, success, text } from '../puppet.ts'
import { GUEST, startGateway, type TestGateway } from '../start.ts'
import { refusal, SocketReader, wholeSocket } from '../streams/socket.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

async function board(...cues: Cue[]): Promise<string> {
  const body = { agentId: 'able', prompt: script(...cues) }
  return String((await call(server, 'POST /api/sessions', { body })).body.id)
}

const more = (id: string, ...cues: Cue[]) =>
  call(server, 'POST /api/sessions', {
    body: { agentType: 'able', sessionId: id, prompt: script(...cues) },
  })
const settled = (id: string, turn = 1) => server.sessions.get(id)?.settled(turn)
const socket = (id: string, query = '') => `/ws/sessions/${id}${query}`
const waiting = (name: string): Cue => ({ ...text(name, name), wait: true })
const lines = (messages: readonly Record<string, unknown>[]) =>
  messages.map(({ payload }) => (payload as { line?: string }).line)

describe('a socket of a session', () => {
  test('replays earlier events, then streams live ones, and is closed when it is done', async () => {
    const id = await board(text('a', 'one'), text('b', 'two'), waiting('three'), success)
    await server.gate.reached()
    const reader = new SocketReader(server, socket(id))
    await reader.until(2)
    expect(lines(reader.messages)).toEqual(['one', 'two'])
    await server.gate.open()
    expect(await reader.closed).toEqual({ code: 1000, reason: 'done' })
    expect(lines(reader.messages)).toEqual(['one', 'two', 'three'])
  })

  test('that failed is closed with another code, after the error', async () => {
    const failed: Cue = {
      say: {
        type: 'turn.verdict',
        evidence: 'error',
        denials: 0,
        personDenials: 0,
        error: { code: 'unknown', message: 'broken' },
      },
    }
    const { messages, code, reason } = await wholeSocket(server, socket(await board(failed)))
    expect([code, reason]).toEqual([4001, 'failed'])
    expect(messages.map(({ type }) => type)).toEqual(['error'])
  })

  test('that is cancelled is closed with another code, after its last event', async () => {
    const id = await board(waiting('never'), success)
    await server.gate.reached()
    const reader = await new SocketReader(server, socket(id)).open()
    await call(server, `POST /api/sessions/${id}/cancel`)
    expect(await reader.closed).toEqual({ code: 4002, reason: 'cancelled' })
    expect(reader.messages.map(({ type }) => type)).toEqual(['cancelled'])
  })

  test('stays open while a prompt is queued, and reads over the end of a continued session', async () => {
    const id = await board(waiting('one'), success)
    await more(id, text('b', 'two'), success)
    await server.gate.reached()
    const reader = await new SocketReader(server, socket(id)).open()
    await server.gate.open()
    expect((await reader.closed).code).toBe(1000)
    expect(lines(reader.messages)).toEqual(['one', 'two'])
    await more(id, text('c', 'three'), success)
    await settled(id, 3)
    const again = await wholeSocket(server, socket(id))
    expect(lines(again.messages)).toEqual(['one', 'two', 'three'])
    expect(again.code).toBe(1000)
  })

  test('that is deleted is closed with that reason', async () => {
    const id = await board(waiting('never'), success)
    await server.gate.reached()
    const reader = await new SocketReader(server, socket(id)).open()
    await fetchFrom(server, `DELETE /v1/sessions/${id}`)
    expect([4002, 4404]).toContain((await reader.closed).code)
  })

  test('opens with a ticket', async () => {
    const id = await board(text('a', 'one'), success)
    const { ticket } = (await call(server, 'POST /v1/tickets')).body
    const { code } = await wholeSocket(server, socket(id, `?ticket=${ticket}`), { token: '' })
    expect(code).toBe(1000)
  })

  test('needs no end when the server stops: it gets the last event and a code', async () => {
    const id = await board(waiting('never'), success)
    await server.gate.reached()
    const reader = await new SocketReader(server, socket(id)).open()
    await server.sessions.drain()
    await server.app.close()
    expect(await reader.closed).toEqual({ code: 4002, reason: 'cancelled' })
  })
})

describe('a client that reconnects', () => {
  const STORY: Cue[] = [
    { say: { type: 'tool.started', toolId: 'c', name: 'Read', kind: 'read', input: { path: 'a' } } },
    { say: { type: 'tool.completed', toolId: 'c', name: 'Read', kind: 'read', status: 'error', error: 'x' } },
    text('m', 'done'),
    success,
  ]

  test.each([...dialects.keys()])(
    'with its count or its last id continues after it, in %s',
    async (dialect) => {
      const id = await board(...STORY)
      await settled(id)
      const whole = await wholeSocket(server, socket(id, `?dialect=${dialect}`))
      expect(whole.messages.length).toBeGreaterThan(1)
      expect(whole.code).toBe(1000)
      await call(server, `POST /v1/sessions/${id}/end`)
      const stream = await streamed(server, `/v1/sessions/${id}/events?dialect=${dialect}`)
      const said = stream.map(({ data }) => data).slice(0, whole.messages.length)
      expect(whole.messages).toEqual(said)
      for (const [index, { id: last }] of stream.slice(0, whole.messages.length).entries()) {
        const rest = stream.slice(index + 1).map(({ data }) => data)
        for (const place of [`offset=${index + 1}`, `after=${last}`]) {
          const again = await wholeSocket(server, socket(id, `?dialect=${dialect}&${place}`))
          expect(again.messages, place).toEqual(rest)
          const confirmed = await wholeSocket(server, socket(id, `?dialect=${dialect}&${place}&confirm=1`))
          expect(confirmed.messages, place).toEqual([{ resumed: true }, ...rest])
        }
        const counted = await streamed(
          server,
          `/v1/sessions/${id}/events?dialect=${dialect}&offset=${index + 1}`,
        )
        expect(counted.map(({ data }) => data)).toEqual(rest)
      }
    },
  )

  test('has nothing to read at the end, and is closed immediately', async () => {
    const id = await board(text('a', 'one'), success)
    await settled(id)
    expect(await wholeSocket(server, socket(id, '?offset=1'))).toEqual({
      messages: [],
      code: 1000,
      reason: 'done',
    })
  })
})

describe('before the upgrade', () => {
  test.each([
    ['an unknown session', '550e8400-e29b-41d4-a716-446655440000'],
    ['what is no id', 'x'],
  ])('%s is refused', async (_, id) => {
    expect(await refusal(server, socket(id))).toMatchObject({ status: 404, code: 'session_not_found' })
  })

  test("another principal's session is rejected with the same message", async () => {
    const id = await board(success)
    const headers = { 'x-request-id': 'same' }
    const theirs = await refusal(server, socket(id), { token: GUEST, headers })
    expect(theirs).toEqual(await refusal(server, socket('x'), { headers }))
  })

  test.each([
    ['?offset=7', 'offset'],
    ['?offset=-1', 'offset'],
    ['?offset=1&after=1', 'offset'],
    ['?after=99', 'after'],
    ['?confirm=x', 'confirm'],
    ['?dialect=x', 'dialect'],
    ['?limit=1', 'limit'],
  ])('%s is refused by name', async (query, field) => {
    const id = await board(text('a', 'one'), success)
    await settled(id)
    expect(await refusal(server, socket(id, query))).toMatchObject({ status: 400, field })
  })

  test.each([
    'offset=7',
    'offset=1&after=1',
    'offset=1&types=text.completed',
    'offset=1&raw=1',
    'offset=1&partial_json=1',
  ])('a stream with %s is refused by name', async (query) => {
    const id = await board(text('a', 'one'), success)
    await settled(id)
    const { status, body } = await call(server, `GET /v1/sessions/${id}/events?dialect=board&${query}`)
    expect({ status, body }).toMatchObject({ status: 400, body: { field: 'offset' } })
  })

  test('a request without an upgrade gets an error that this is a WebSocket', async () => {
    const response = await fetchFrom(server, `GET ${socket(await board(success))}`)
    expect(response.status).toBe(426)
    expect(response.headers.get('upgrade')).toBe('websocket')
    expect(await response.json()).toMatchObject({ code: 'invalid_request' })
  })
})
