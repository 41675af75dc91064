import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { memoryStore } from '../../src/stores/memory.ts'
import { begin, call, fetchFrom, finished, streamed } from './api.ts'
import { type Cue, script, success, text } from './puppet.ts'
import { GUEST, startGateway, type TestGateway } from './start.ts'
import { StreamReader } from './streams/sse.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const guest = { token: GUEST }
const create = (body: object, headers: Record<string, string> = {}) =>
  call(server, 'POST /v1/sessions', { body, headers })

describe('a new session', () => {
  test('without a prompt is idle, and has a place', async () => {
    const { body, headers } = await create({ agent: 'echo' })
    expect(headers.get('location')).toBe(`/v1/sessions/${body.id}`)
    expect(body).toMatchObject({ agent: 'echo', launch: 'live', cwd: server.root })
    expect(body).not.toHaveProperty('turn')
    const record = await call(server, `GET /v1/sessions/${body.id}`)
    expect(record.body).toMatchObject({
      status: 'idle',
      turns: 0,
      head: 1,
      principal: 'owner',
      attended: true,
    })
  })

  test('with a prompt runs its first turn', async () => {
    const { body } = await create({ agent: 'echo', prompt: 'hello' })
    expect(body.turn).toBe(1)
    const settled = await server.sessions.get(String(body.id))?.settled(1)
    expect(settled).toMatchObject({ outcome: 'completed', result: 'hello' })
  })

  test.each([
    ['an agent that does not exist', { agent: 'nobody' }, 404, 'agent_not_found'],
    ['an agent that is no id', { agent: '--flag' }, 400, 'invalid_request'],
    ['a field nobody knows', { agent: 'echo', colour: 'red' }, 400, 'invalid_request'],
    ['an empty prompt', { agent: 'echo', prompt: '' }, 400, 'invalid_request'],
    ['a launch it has not', { agent: 'able', launch: 'oneshot' }, 422, 'unsupported_option'],
    ['a session the agent cannot resume', { agent: 'echo', resume: 'abc' }, 422, 'unsupported_option'],
    ['a resume that is no id', { agent: 'echo', resume: '-c x' }, 400, 'invalid_request'],
    ['a model that is a flag', { agent: 'echo', options: { model: '--x' } }, 400, 'invalid_request'],
    ['a directory elsewhere', { agent: 'echo', cwd: '/' }, 403, 'forbidden'],
    ['keys, below a ceiling', { agent: 'echo', keys: { ANTHROPIC_API_KEY: 'k' } }, 403, 'forbidden'],
    ['a policy above the ceiling', { agent: 'echo', policy: { approval: 'auto-all' } }, 403, 'forbidden'],
    ['variables', { agent: 'echo', options: { env: { A: 'b' } } }, 403, 'forbidden'],
    ['programs', { agent: 'echo', options: { mcpServers: { a: { command: 'sh' } } } }, 403, 'forbidden'],
    [
      'hooks',
      { agent: 'echo', options: { hooks: { beforeToolCall: { command: ['sh'] } } } },
      403,
      'forbidden',
    ],
    ['directories elsewhere', { agent: 'echo', options: { extraDirectories: ['/'] } }, 403, 'forbidden'],
  ])('with %s is refused, and leaves nothing', async (_, body, status, code) => {
    const answer = await create(body)
    expect(answer).toMatchObject({ status, body: { code } })
    expect((await call(server, 'GET /v1/sessions')).body.sessions).toEqual([])
  })

  test('may use directories below the roots', async () => {
    const extra = join(server.root, 'extra')
    mkdirSync(extra)
    const id = await begin(server, { options: { extraDirectories: [extra] } })
    expect((await call(server, `GET /v1/sessions/${id}`)).body.options).toEqual({ extraDirectories: [extra] })
  })

  test('may set variables if everything is allowed, and their values are never shown', async () => {
    await using open = await startGateway({ ceiling: { approval: 'auto-all', sandbox: 'full-access' } })
    const options = {
      env: { KEY: 'secret' },
      mcpServers: { a: { url: 'http://127.0.0.1', headers: { authorization: 'secret' } } },
    }
    const id = await begin(open, { options })
    for (const route of [`GET /v1/sessions/${id}`, 'GET /v1/sessions']) {
      const { body } = await call(open, route)
      expect(JSON.stringify(body)).toContain('KEY')
      expect(JSON.stringify(body)).not.toContain('secret')
    }
  })

  test.each(['starting', 'draining'] as const)('is not taken by a server that is %s', async (phase) => {
    await using other = await startGateway({ phase: () => phase })
    expect(await call(other, 'POST /v1/sessions', { body: { agent: 'echo' } })).toMatchObject({ status: 503 })
  })
})

describe('the same Idempotency-Key', () => {
  const key = (value = 'k1') => ({ 'idempotency-key': value })

  test('and body give the same answer, byte for byte, and one session', async () => {
    const post = (body: object) => fetchFrom(server, 'POST /v1/sessions', { headers: key(), body })
    const first = await post({ agent: 'echo', prompt: 'hi' })
    const second = await post({ prompt: 'hi', agent: 'echo' })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(await second.text()).toBe(await first.text())
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
    expect((await call(server, 'GET /v1/sessions')).body.sessions).toHaveLength(1)
  })

  test('works for a session without a prompt', async () => {
    const first = await create({ agent: 'echo' }, key())
    expect((await create({ agent: 'echo' }, key())).body).toEqual(first.body)
  })

  test('and another body are refused', async () => {
    await create({ agent: 'echo', prompt: 'hi' }, key())
    const other = await create({ agent: 'echo', prompt: 'ho' }, key())
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } })
  })

  test('is answered by a stopping server, which creates nothing else', async () => {
    let phase: 'ready' | 'draining' = 'ready'
    await using stopping = await startGateway({ phase: () => phase })
    const post = (value: string) =>
      call(stopping, 'POST /v1/sessions', { headers: key(value), body: { agent: 'echo', prompt: 'hi' } })
    const first = await post('k1')
    phase = 'draining'
    expect(await post('k1')).toMatchObject({ status: 201, body: first.body })
    expect(await post('k2')).toMatchObject({ status: 503, body: { code: 'draining' } })
  })

  test('sent many times at once creates one session; early repetitions are refused with Retry-After', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => create({ agent: 'echo', prompt: 'hi' }, key())),
    )
    const statuses = new Set(answers.map(({ status }) => status))
    expect(statuses.has(201)).toBe(true)
    expect([...statuses].filter((status) => status !== 201 && status !== 409)).toEqual([])
    expect((await call(server, 'GET /v1/sessions')).body.sessions).toHaveLength(1)
  })

  test('in flight is joined, and with another body it is a conflict', async () => {
    await using busy = await startGateway({ store: slowStore() })
    const first = call(busy, 'POST /v1/sessions', { body: { agent: 'echo' }, headers: key() })
    await creating.promise
    const again = call(busy, 'POST /v1/sessions', { body: { agent: 'echo' }, headers: key() })
    const other = await call(busy, 'POST /v1/sessions', { body: { agent: 'puppet' }, headers: key() })
    expect(other).toMatchObject({ status: 422 })
    letGo.resolve()
    expect((await first).status).toBe(201)
    expect(await again).toMatchObject({ status: 201, body: (await first).body })
  })

  test('of two principals creates two sessions', async () => {
    const mine = await create({ agent: 'echo' }, key())
    const theirs = await call(server, 'POST /v1/sessions', {
      body: { agent: 'puppet' },
      headers: key(),
      ...guest,
    })
    expect(theirs.status).toBe(201)
    expect(theirs.body.id).not.toBe(mine.body.id)
  })

  test('of a request that was refused is free again', async () => {
    expect((await create({ agent: 'nobody' }, key())).status).toBe(404)
    expect((await create({ agent: 'echo' }, key())).status).toBe(201)
  })

  test.each(['', 'x'.repeat(256)])('is refused when it is %j', async (value) => {
    expect((await create({ agent: 'echo' }, key(value))).status).toBe(400)
  })

  test('is refused where it would not help', async () => {
    expect(await call(server, 'POST /v1/tickets', { headers: key() })).toMatchObject({
      status: 422,
      body: { code: 'unsupported_option', field: 'Idempotency-Key' },
    })
  })
})

describe('the list', () => {
  test('has the newest first, page by page, without a gap or a repeat', async () => {
    const ids: string[] = []
    for (let count = 0; count < 7; count++) ids.unshift(await begin(server))
    const seen: string[] = []
    let path = 'GET /v1/sessions?limit=3'
    for (;;) {
      const { body } = await call(server, path)
      seen.push(...(body.sessions as { id: string }[]).map(({ id }) => id))
      if (body.next === undefined) break
      path = `GET /v1/sessions?limit=3&before=${body.next}`
    }
    expect(seen).toEqual(ids)
  })

  test('can be narrowed down by status', async () => {
    const idle = await begin(server)
    const ended = await finished(server, script(success))
    const ids = async (query: string) =>
      ((await call(server, `GET /v1/sessions?${query}`)).body.sessions as { id: string }[]).map(
        ({ id }) => id,
      )
    expect(await ids('status=idle')).toEqual([idle])
    expect(await ids('status=ended')).toEqual([ended])
    expect(await ids('status=busy')).toEqual([])
    expect(await ids('asking=0')).toEqual([ended, idle])
    expect(await ids('asking=1')).toEqual([])
  })

  test.each([
    'limit=0',
    'limit=501',
    'limit=x',
    'limit=-1',
    'status=gone',
    'asking=yes',
    'limit=1&limit=2',
    'x=1',
  ])('refuses ?%s', async (query) => {
    expect(await call(server, `GET /v1/sessions?${query}`)).toMatchObject({ status: 400 })
  })

  test('refuses to start behind a session that is not there', async () => {
    const theirs = await begin(server, {}, guest)
    for (const before of ['x', theirs]) {
      expect((await call(server, `GET /v1/sessions?before=${before}`)).status).toBe(404)
    }
  })
})

describe('a session that is deleted', () => {
  test('is gone with its log, whether it was running or over', async () => {
    const running = await begin(server, { prompt: script(text('m', 'one'), { ...success, wait: true }) })
    await server.gate.reached()
    const over = await finished(server, script(success))
    for (const id of [running, over]) {
      expect((await call(server, `DELETE /v1/sessions/${id}`)).status).toBe(204)
      expect((await call(server, `GET /v1/sessions/${id}`)).status).toBe(404)
      expect((await call(server, `GET /v1/sessions/${id}/events`)).status).toBe(404)
      expect((await call(server, `DELETE /v1/sessions/${id}`)).status).toBe(404)
    }
    expect((await call(server, 'GET /v1/sessions')).body.sessions).toEqual([])
  })

  test('ends the stream of its reader with an end, or cuts it off', async () => {
    const id = await begin(server)
    const response = await fetchFrom(server, `GET /v1/sessions/${id}/events`, {
      headers: { accept: 'text/event-stream' },
    })
    const reader = new StreamReader(response)
    await reader.until('session.started')
    await call(server, `DELETE /v1/sessions/${id}`)
    const all = await reader.whole().catch(() => 'cut off')
    expect(all === 'cut off' || all.includes('session.ended')).toBe(true)
  })
})

test('sessions of one principal do not exist for another', async () => {
  const mine = await finished(server, script(text('m', 'mine'), success))
  const nobodys = '00000000-0000-4000-8000-000000000000'
  const body = { prompt: 'x', model: 'x', mode: 'x', decision: 'deny', inputDigest: '' }
  const routes = [
    ['GET /v1/sessions/ID'],
    ['DELETE /v1/sessions/ID'],
    ['GET /v1/sessions/ID/events'],
    ['POST /v1/sessions/ID/turns', { prompt: body.prompt }],
    ['POST /v1/sessions/ID/steer', { prompt: body.prompt }],
    ['POST /v1/sessions/ID/model', { model: body.model }],
    ['POST /v1/sessions/ID/mode', { mode: body.mode }],
    ['POST /v1/sessions/ID/interrupt'],
    ['POST /v1/sessions/ID/end'],
    ['POST /v1/sessions/ID/requests/r1', { decision: 'deny', inputDigest: '' }],
    ['GET /v1/blobs/ID/b1'],
  ] as const
  for (const [route, sent] of routes) {
    const headers = { 'x-request-id': 'same' }
    const options = { ...guest, headers, ...(sent && { body: sent }) }
    const theirs = await call(server, route.replace('ID', mine), options)
    expect(theirs, route).toMatchObject({ status: 404, body: { code: 'session_not_found' } })
    // Not even the words differ from those for what never was.
    expect((await call(server, route.replace('ID', nobodys), options)).body).toEqual(theirs.body)
  }
  for (const list of ['sessions', 'requests']) {
    expect((await call(server, `GET /v1/${list}`, guest)).body[list]).toEqual([])
  }
  expect((await call(server, 'GET /v1/usage', guest)).body.total).toMatchObject({ sessions: 0 })
  expect(await streamed(server, `/v1/sessions/${mine}/events`)).not.toEqual([])
})

test("an agent's own conversation that another principal runs cannot be resumed", async () => {
  const body = { agent: 'puppet', resume: 'native-1' }
  await begin(server, body, guest)
  expect(await create(body)).toMatchObject({
    status: 404,
    body: { code: 'session_not_found', field: 'resume' },
  })
  await begin(server, body, guest)
  await begin(server, { ...body, resume: 'native-2' })
})

test("an agent's own conversation of another principal cannot be resumed in its first turn, nor after its session is deleted", async () => {
  const announced: Cue = { say: { type: 'session.updated', nativeSessionId: 'native-3' } }
  const id = await begin(
    server,
    { agent: 'puppet', prompt: script(announced, { ...success, wait: true }) },
    guest,
  )
  await expect.poll(async () => (await server.sessions.record(id))?.announcedSessionId).toBe('native-3')
  const resume = { agent: 'puppet', resume: 'native-3' }
  expect(await create(resume)).toMatchObject({ status: 404, body: { field: 'resume' } })
  await call(server, `DELETE /v1/sessions/${id}`, guest)
  expect(await create(resume)).toMatchObject({ status: 404, body: { field: 'resume' } })
  await begin(server, resume, guest)
})

const creating = Promise.withResolvers<void>()
const letGo = Promise.withResolvers<void>()

/** A store that takes its time to begin a log. */
function slowStore() {
  const store = memoryStore()
  const create = store.create.bind(store)
  store.create = async (...batch) => {
    creating.resolve()
    await letGo.promise
    return create(...batch)
  }
  return store
}
