import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  AgentClient,
  HttpTransport,
  MainstemClient,
  SseTransport,
  WebSocketTransport,
} from '../../src/client/index.ts'
import { begin, call, fetchFrom, NDJSON, SSE } from '../gateway/api.ts'
import { type Cue, script, success, text } from '../gateway/puppet.ts'
import { create, open, rpc, startRpc, told } from '../gateway/rpc/rpc.ts'
import { type TestGateway, TOKEN } from '../gateway/start.ts'
import { SocketReader } from '../gateway/streams/socket.ts'
import { StreamReader } from '../gateway/streams/sse.ts'
import { fillable } from '../sessions/log/fillable-store.ts'

const CUES: Cue[] = [text('m1', 'one'), { ...text('m2', 'two'), wait: true }, success]
const PROMPT = script(...CUES)
const MESSAGE = 'the disk is full'
const PROBLEM = { code: 'storage_failed', detail: MESSAGE, unwritable: true, status: 503 }

let server: TestGateway
let disk: ReturnType<typeof fillable>['disk']

beforeEach(async () => {
  const filled = fillable()
  disk = filled.disk
  server = await startRpc({ store: filled.store })
})

afterEach(async () => {
  disk.full = false
  await server[Symbol.asyncDispose]()
})

/** A session whose first text is stored. */
async function begun(): Promise<string> {
  const id = await begin(server, { prompt: PROMPT })
  await expect.poll(async () => JSON.stringify(await server.sessions.read(id, 0, 100))).toContain('"one"')
  return id
}

/** The agent writes its second text, which cannot be stored. */
async function fill(): Promise<void> {
  disk.full = true
  await server.gate.open()
}

/** A session that has failed. */
async function failed(): Promise<string> {
  const id = await begun()
  await fill()
  await expect.poll(() => disk.refused).toBeGreaterThan(1)
  await expect.poll(async () => (await server.sessions.record(id))?.failure).toBeDefined()
  return id
}

/** Space returns, and the next prompt is answered. */
async function continues(id: string): Promise<void> {
  disk.full = false
  const { status, body } = await call(server, `POST /v1/sessions/${id}/turns`, {
    body: { prompt: script(text('m3', 'three'), success) },
  })
  expect(status, JSON.stringify(body)).toBe(202)
  const ends = async () =>
    (await server.sessions.read(id, 0, 100)).flatMap(({ event }) =>
      event.type === 'turn.completed' ? [[event.outcome, event.error?.code]] : [],
    )
  await expect.poll(ends).toEqual([
    ['failed', 'storage_failed'],
    ['completed', undefined],
  ])
  expect((await call(server, `GET /v1/sessions/${id}`)).body.failure).toBeUndefined()
}

describe('a stream of a session whose log can no longer be written', () => {
  test('ends with the problem, after the stored entries, as server-sent events and as lines', async () => {
    const id = await begun()
    const path = `GET /v1/sessions/${id}/events`
    const events = new StreamReader(await fetchFrom(server, path, { headers: SSE }))
    const lines = new StreamReader(await fetchFrom(server, path, { headers: NDJSON }))
    await events.until('"one"')
    await lines.until('"one"')
    await fill()
    const last = (await events.whole()).split('\n\n').at(-2) ?? ''
    expect(last).toMatch(/^event: error\ndata: /)
    expect(JSON.parse(last.slice('event: error\ndata: '.length))).toMatchObject(PROBLEM)
    expect(JSON.parse((await lines.whole()).trim().split('\n').at(-1) ?? '')).toMatchObject({
      error: PROBLEM,
    })
    expect(events.text).not.toContain('"two"')
    await continues(id)
  })

  test('that begins after the failure has the stored entries too', async () => {
    const id = await failed()
    const stream = new StreamReader(
      await fetchFrom(server, `GET /v1/sessions/${id}/events`, { headers: SSE }),
    )
    const all = await stream.whole()
    expect(all).toContain('"one"')
    expect(all).toContain('event: error\n')
    await continues(id)
  })

  test('is closed with the code as the reason, as a WebSocket', async () => {
    const id = await begun()
    const paths = [`/v1/sessions/${id}/events`, `/ws/sessions/${id}`, `/ws/sessions/${id}?dialect=unified`]
    const sockets = paths.map((path) => new SocketReader(server, path))
    for (const socket of sockets) await (await socket.open()).until(1)
    await fill()
    for (const { closed } of sockets) expect(await closed).toEqual({ code: 1011, reason: 'storage_failed' })
    for (const path of paths)
      expect(await new SocketReader(server, path).closed).toEqual({ code: 1011, reason: 'storage_failed' })
    await continues(id)
  })

  test('has an error message in the execute dialect, and its run ends when it is repeated later', async () => {
    const body = { driver: 'puppet', task: PROMPT }
    const stream = new StreamReader(await server.execute(body))
    await stream.until('"one"')
    await fill()
    expect((await stream.whole()).trim().split('\n').at(-1)).toBe(
      `data: ${JSON.stringify({ kind: 'error', message: MESSAGE, code: 'storage_failed' })}`,
    )
    disk.full = false
    const again = new StreamReader(await server.execute(body))
    await server.gate.open()
    const whole = await again.whole()
    expect(whole).toContain('"storage_failed"')
    expect(whole).toContain('"session_end"')
  })

  test('ends with an error message and `[DONE]` in `/rpc`', async () => {
    const id = await create(server, { cli_type: 'able' })
    const stream = await open(server, id, PROMPT)
    await stream.until('"one"')
    await fill()
    expect(told(await stream.whole()).slice(-2)).toEqual([
      { type: 'error', message: MESSAGE, code: 'storage_failed' },
      '[DONE]',
    ])
    expect(await rpc(server, 'session.list')).toMatchObject({ result: { sessions: [{ status: 'error' }] } })
  })
})

describe('a session whose log can no longer be written', () => {
  test('is shown with its failure, in lists too', async () => {
    const id = await failed()
    const failure = { code: 'storage_failed', message: MESSAGE }
    expect((await call(server, `GET /v1/sessions/${id}`)).body).toMatchObject({ failure })
    expect((await call(server, 'GET /v1/sessions')).body).toMatchObject({ sessions: [{ id, failure }] })
    expect((await call(server, `GET /api/sessions/${id}`)).body).toMatchObject({ state: 'failed' })
    const exported = await (await fetchFrom(server, `GET /v1/sessions/${id}/export`)).text()
    expect(exported).not.toContain('"failure"')
    await continues(id)
  })

  test('refuses pages at its head, and waits for them', async () => {
    const id = await begun()
    const { body } = await call(server, `GET /v1/sessions/${id}/events`)
    const path = `GET /v1/sessions/${id}/events?after=${body.next}`
    const waiting = call(server, `${path}&wait=60`)
    await fill()
    expect((await waiting).body).toMatchObject(PROBLEM)
    expect((await call(server, path)).body).toMatchObject(PROBLEM)
    expect((await call(server, `GET /v1/sessions/${id}/events`)).status).toBe(200)
    const { total } = (await call(server, `GET /api/sessions/${id}/events`)).body
    expect((await call(server, `GET /api/sessions/${id}/events?offset=${total}`)).body).toMatchObject(PROBLEM)
    await continues(id)
  })

  test('refuses every command', async () => {
    const id = await failed()
    const before = await server.sessions.head(id)
    for (const route of ['interrupt', 'end'])
      expect((await call(server, `POST /v1/sessions/${id}/${route}`)).body).toMatchObject({
        code: 'storage_failed',
      })
    expect((await call(server, `POST /api/sessions/${id}/cancel`)).body).toMatchObject({
      code: 'storage_failed',
    })
    expect(await rpc(server, 'session.interrupt', { sessionId: id })).toMatchObject({
      error: { data: { code: 'storage_failed' } },
    })
    expect(await server.sessions.head(id)).toBe(before)
    await continues(id)
  })
})

describe('a client of a session whose log can no longer be written', () => {
  const options = () => ({ baseUrl: server.url, token: TOKEN })

  test('gets the error once, and reads on later', async () => {
    const id = await begun()
    const client = new MainstemClient(options())
    const seen: number[] = []
    const reading = (async () => {
      for await (const { seq } of client.entries(id)) seen.push(seq)
    })()
    await expect.poll(() => seen.length).toBeGreaterThan(2)
    await fill()
    await expect(reading).rejects.toMatchObject({ code: 'storage_failed', message: MESSAGE })
    await expect(client.interrupt(id)).rejects.toMatchObject({ code: 'storage_failed' })
    await continues(id)
    for await (const { seq, event } of client.entries(id, { after: seen.at(-1) ?? 0 })) {
      seen.push(seq)
      if (event.type === 'turn.completed' && event.turn === 2) break
    }
    expect(seen).toEqual(seen.map((_, index) => index + 1))
  })

  test.each([
    ['polling', HttpTransport],
    ['server-sent events', SseTransport],
    ['a WebSocket', WebSocketTransport],
  ] as const)('gets it over %s', async (_, Transport) => {
    const client = new AgentClient({ agentType: 'puppet', transport: new Transport(options()) })
    const session = await client.createSession({ prompt: PROMPT })
    const seen: string[] = []
    const reading = (async () => {
      for await (const { type } of session.events) seen.push(type)
    })()
    await expect.poll(() => seen).toContain('textChunk')
    await fill()
    await expect(reading).rejects.toThrow(/storage_failed|the disk is full/)
    await continues(session.id)
  })
})
