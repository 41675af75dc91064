import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects } from '../../../src/dialects/index.ts'
import { FACES, type Outcome } from '../../../src/model/index.ts'
import { boardState } from '../../dialects/board/board-state.ts'
import { schema } from '../../dialects/json-schema.ts'
import { begin, call, fetchFrom, finished, streamed } from '../api.ts'
import { type Cue, script, success, text } from '../puppet.ts'
import { GUEST, startGateway, type TestGateway } from '../start.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const guest = { token: GUEST }
const post = (body: unknown, headers: Record<string, string> = {}) =>
  call(server, 'POST /api/sessions', { body, headers })
const get = (path: string) => call(server, `GET /api/sessions${path}`)

/** Begins a session as the board asks for it, and gives its id. */
async function board(prompt = script(success), agentId = 'puppet'): Promise<string> {
  const { status, body } = await post({ agentId, prompt })
  expect(status, JSON.stringify(body)).toBe(201)
  return String(body.id)
}

const settled = (id: string, turn = 1) => server.sessions.get(id)?.settled(turn)
const record = async (id: string) => (await call(server, `GET /v1/sessions/${id}`)).body

const WAITING = script({ ...text('m', 'late'), wait: true }, success)

describe('a session as the board asks for it', () => {
  test('is created, runs, and is done', async () => {
    const { body, headers } = await post({ agentId: 'echo', prompt: 'hello' })
    expect(body).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), state: 'running' })
    expect(headers.get('location')).toBe(`/api/sessions/${body.id}`)
    await settled(String(body.id))
    expect((await get(`/${body.id}`)).body).toMatchObject({ id: body.id, state: 'done', agentId: 'echo' })
    const { events } = (await get(`/${body.id}/events`)).body
    expect(events).toEqual([
      expect.objectContaining({ type: 'log', sessionId: body.id, payload: { line: 'hello' } }),
    ])
  })

  test('uses the default approval, and works in the directory of the server', async () => {
    expect(await record(await board())).toMatchObject({
      policy: { approval: 'ask', sandbox: 'none' },
      attended: true,
      cwd: server.root,
    })
  })
})

describe('a session as the unified protocol asks for it', () => {
  const unified = (body: object) => post({ agentType: 'puppet', prompt: script(success), ...body })

  test('has the policy, the model and the directory of its config', async () => {
    const directory = join(server.root, 'place')
    mkdirSync(directory)
    const config = {
      workingDirectory: directory,
      approvalMode: 'askDangerous',
      sandboxMode: 'workspaceWrite',
      blockedTools: ['Bash'],
      maxTurns: 1000,
    }
    const { body, status } = await unified({ config: { agentType: 'puppet', ...config } })
    expect(status, JSON.stringify(body)).toBe(201)
    const kept = {
      approval: 'ask-dangerous',
      sandbox: 'workspace-write',
      tools: { denied: ['Bash'] },
      maxSteps: 1000,
    }
    expect(await record(String(body.id))).toMatchObject({ cwd: directory, policy: kept })
    await settled(String(body.id))
    const { events } = (await get(`/${body.id}/events?dialect=unified`)).body
    expect(events).toEqual([
      expect.objectContaining({ type: 'sessionStarted', config: expect.objectContaining(config) }),
      expect.objectContaining({ type: 'turnStarted', turnNumber: 1 }),
      expect.objectContaining({ type: 'turnCompleted' }),
      expect.objectContaining({ type: 'sessionEnded', reason: 'completed' }),
    ])
  })

  test('continues with a new turn in the same log, and is running again', async () => {
    const named: Cue = { say: { type: 'session.updated', nativeSessionId: 'native-1' } }
    const id = await board(script(named, text('m', 'one'), success))
    await settled(id)
    expect((await get(`/${id}`)).body.state).toBe('done')
    const again = await unified({ sessionId: id, prompt: WAITING })
    expect(again).toMatchObject({ status: 201, body: { id, state: 'running' } })
    expect((await get(`/${id}`)).body.state).toBe('running')
    await server.gate.open()
    await settled(id, 2)
    expect((await get(`/${id}`)).body.state).toBe('done')
    const { events } = (await get(`/${id}/events?dialect=unified`)).body
    expect((events as { type: string }[]).map(({ type }) => type)).toEqual([
      'sessionStarted',
      'turnStarted',
      'logEntry',
      'textChunk',
      'turnCompleted',
      'sessionEnded',
      'sessionStarted',
      'turnStarted',
      'textChunk',
      'turnCompleted',
      'sessionEnded',
    ])
  })

  test('that is running queues the next prompt', async () => {
    const id = await board(WAITING)
    await unified({ sessionId: id })
    expect(await record(id)).toMatchObject({ openTurn: 1, queue: [{ turn: 2 }] })
    await server.gate.open()
    await settled(id, 2)
  })

  test('continues only with its own config', async () => {
    const config = { approvalMode: 'autoEdit', blockedTools: ['Bash'], maxTurns: 3 }
    const id = String((await unified({ config })).body.id)
    await settled(id)
    const place = { workingDirectory: server.root }
    expect(await unified({ sessionId: id, config: { ...config, ...place } })).toMatchObject({ status: 201 })
    await settled(id, 2)
    for (const [name, value] of Object.entries({
      approvalMode: 'ask',
      sandboxMode: 'readOnly',
      blockedTools: [],
      allowedTools: [],
      maxTurns: 4,
      model: 'other',
    })) {
      const refused = await unified({ sessionId: id, config: { [name]: value } })
      expect(refused, name).toMatchObject({
        status: 422,
        body: { code: 'unsupported_option', field: `config.${name}` },
      })
    }
    const stranger = await unified({ sessionId: id, agentType: 'echo' })
    expect(stranger).toMatchObject({ status: 422, body: { field: 'agentType' } })
    expect(await record(id)).toMatchObject({ turns: 2 })
  })

  test.each([
    ['somebody else has', GUEST],
    ['nobody has', undefined],
  ])('does not continue a session that %s', async (_, token) => {
    const id = token
      ? (await call(server, 'POST /api/sessions', { token, body: { agentId: 'echo', prompt: 'x' } })).body.id
      : '550e8400-e29b-41d4-a716-446655440000'
    expect(await unified({ sessionId: id })).toMatchObject({
      status: 404,
      body: { code: 'session_not_found' },
    })
    expect(await unified({ sessionId: 'a\nb' })).toMatchObject({ status: 404 })
  })

  test('does not continue an ended session', async () => {
    const id = await finished(server, script(success))
    expect(await unified({ sessionId: id })).toMatchObject({ status: 409, body: { code: 'conflict' } })
  })
})

describe('a request that is repeated', () => {
  const key = { 'idempotency-key': 'k' }

  test('creates one session per key, with the same response', async () => {
    const body = { agentId: 'echo', prompt: 'once' }
    const first = await post(body, key)
    const second = await post(body, key)
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect((await get('')).body.sessions).toHaveLength(1)
    expect(await post({ ...body, prompt: 'twice' }, key)).toMatchObject({ status: 422 })
  })

  test('under its key is one more turn, and not two', async () => {
    const id = await board()
    await settled(id)
    const body = { agentType: 'puppet', prompt: script(success), sessionId: id }
    const first = await post(body, key)
    const second = await post(body, key)
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect(await record(id)).toMatchObject({ turns: 2 })
  })
})

describe('the state', () => {
  const verdict = (evidence: string, more: object = {}): Cue => ({
    say: { type: 'turn.verdict', evidence, denials: 0, personDenials: 0, ...more } as NonNullable<Cue['say']>,
  })
  const error = { error: { code: 'unknown', message: 'no' } }
  test.each<[Outcome, Cue]>([
    ['completed', success],
    ['denied', verdict('success', { denials: 1 })],
    ['refused', verdict('refusal')],
    ['max_steps', verdict('max_steps')],
    ['interrupted', verdict('aborted')],
    ['failed', verdict('error', error)],
    ['crashed', { ...text('m', 'no verdict') }],
  ])('of a session whose turn was %s', async (outcome, cue) => {
    const id = await board(script(cue))
    expect(await settled(id)).toMatchObject({ outcome })
    const { state } = (await get(`/${id}`)).body
    expect(state).toBe(FACES[outcome].board)
    expect(state).toBe(boardState(await server.sessions.read(id, 0, 1000)))
    await call(server, `POST /v1/sessions/${id}/end`)
    expect((await get(`/${id}`)).body.state).toBe(state)
  })

  test('of a session without a prompt is running until it is ended', async () => {
    const id = await begin(server)
    expect((await get(`/${id}`)).body.state).toBe('running')
    await call(server, `POST /v1/sessions/${id}/end`)
    expect((await get(`/${id}`)).body.state).toBe(boardState(await server.sessions.read(id, 0, 10)))
  })
})

describe('cancel', () => {
  const cancel = (id: string) => call(server, `POST /api/sessions/${id}/cancel`)

  test('cancels the running turn and drops queued ones', async () => {
    const id = await board(WAITING)
    await post({ agentType: 'puppet', prompt: WAITING, sessionId: id })
    await server.gate.reached()
    expect((await cancel(id)).body).toEqual({ id, state: 'cancelled', cancelled: true })
    expect(await record(id)).toMatchObject({ status: 'idle', queue: [] })
    const { events } = (await get(`/${id}/events`)).body
    expect((events as { type: string }[]).filter(({ type }) => type === 'cancelled')).toHaveLength(1)
  })

  test('accepts an empty body of any content type', async () => {
    const headers = { 'content-type': 'application/json' }
    const path = `POST /api/sessions/${await board(WAITING)}/cancel`
    expect(await call(server, path, { headers })).toMatchObject({ status: 200, body: { state: 'cancelled' } })
    expect(await call(server, 'POST /api/sessions', { headers })).toMatchObject({ status: 400 })
  })

  test('again, or too late, changes nothing, and reports it', async () => {
    const id = await board(WAITING)
    await server.gate.reached()
    await cancel(id)
    expect((await cancel(id)).body).toEqual({ id, state: 'cancelled', cancelled: false })
    const done = await board()
    await settled(done)
    expect((await cancel(done)).body).toEqual({ id: done, state: 'done', cancelled: false })
  })

  test('by several clients at once has one winner, and the others see that', async () => {
    const id = await board(WAITING)
    await server.gate.reached()
    const answers = await Promise.all(Array.from({ length: 5 }, () => cancel(id)))
    expect(answers.map(({ body }) => body.state)).toEqual(Array(5).fill('cancelled'))
    expect(answers.filter(({ body }) => body.cancelled)).toHaveLength(1)
    const log = await server.sessions.read(id, 0, 1000)
    expect(log.filter(({ event }) => event.type === 'turn.completed')).toHaveLength(1)
  })
})

describe('a page of events', () => {
  const STORY = script(
    { say: { type: 'tool.started', toolId: 'c', name: 'Read', kind: 'read', input: { path: 'a' } } },
    {
      say: { type: 'tool.completed', toolId: 'c', name: 'Read', kind: 'read', status: 'error', error: 'no' },
    },
    ...Array.from({ length: 5 }, (_, index) => text(`m${index}`, `line ${index}`)),
    success,
  )

  test.each([...dialects.keys()])('counts what the dialect says, in %s', async (dialect) => {
    const id = await board(STORY)
    await settled(id)
    await call(server, `POST /v1/sessions/${id}/end`)
    const all = (await streamed(server, `/v1/sessions/${id}/events?dialect=${dialect}`)).map(
      ({ data }) => data,
    )
    expect(all.length).toBeGreaterThan(3)
    for (let offset = 0; offset <= all.length + 1; offset++) {
      const { body } = await get(`/${id}/events?dialect=${dialect}&offset=${offset}&limit=2`)
      const events = all.slice(offset, offset + 2)
      expect(body).toEqual({ events, offset, limit: 2, total: all.length })
    }
    expect((await get(`/${id}/events?dialect=${dialect}`)).body).toMatchObject({ events: all, limit: 100 })
  })

  test('has what its schema says', async () => {
    const isEvent = schema('board-event.printed')
    const { body } = await get(`/${await board(STORY)}/events`)
    for (const event of body.events as unknown[]) expect(isEvent(event)).toBeUndefined()
  })
})

describe('the list', () => {
  test('has the sessions of one token, newest first, page by page', async () => {
    const ids = [await board(), await board(), await board()]
    await call(server, 'POST /api/sessions', { ...guest, body: { agentId: 'echo', prompt: 'x' } })
    const first = (await get('?limit=2')).body
    const second = (await get(`?limit=2&before=${first.next}`)).body
    const listed = [...(first.sessions as { id: string }[]), ...(second.sessions as { id: string }[])]
    expect(listed.map(({ id }) => id)).toEqual(ids.toReversed())
    expect(second).not.toHaveProperty('next')
    expect((await get('?before=x')).status).toBe(404)
  })
})

describe('the schemas', () => {
  test.each(['board-event.json', 'board-event.printed.json', 'unified-request.printed.json', 'event.json'])(
    '%s is served as it is published',
    async (name) => {
      const response = await fetchFrom(server, `GET /schemas/${name}`)
      expect(response.headers.get('content-type')).toBe('application/schema+json')
      expect(await response.text()).toBe(readFileSync(`docs/schemas/${name}`, 'utf8'))
    },
  )

  test.each([
    ['session-request.json', 'unified-request.json'],
    ['claude/session-event.json', 'board-event.printed.json'],
    ['codex/thread-event.json', 'unified-codex-event.printed.json'],
    ['gemini/stream-event.json', 'unified-gemini-event.printed.json'],
  ])('%s is there by the name in the document', async (name, file) => {
    const response = await fetchFrom(server, `GET /schemas/${name}`)
    expect(await response.text()).toBe(readFileSync(`docs/schemas/${file}`, 'utf8'))
  })

  test.each(['nothing.json', '..', '..%2Fhttp.md', '%2Fetc%2Fpasswd'])('there is no %s', async (name) => {
    expect((await fetchFrom(server, `GET /schemas/${name}`)).status).toBe(404)
  })
})
