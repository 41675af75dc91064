import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { begin, call, streamed } from './api.ts'
import { script, success, text } from './puppet.ts'
import { startGateway, type TestGateway } from './start.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const post = (id: string, command: string, body?: unknown) =>
  call(server, `POST /v1/sessions/${id}/${command}`, body === undefined ? {} : { body })
const typesOf = async (id: string) => {
  const { body } = await call(server, `GET /v1/sessions/${id}/events`)
  return (body.entries as { event: { type: string } }[]).map(({ event }) => event.type)
}
const waiting = script(text('m', 'one'), { ...success, wait: true })

describe('a fork', () => {
  const worked = script(
    { say: { type: 'session.updated', nativeSessionId: 'native-1' } },
    text('m', 'one'),
    success,
  )

  test('is a session that continues a copy, once per key', async () => {
    const id = await begin(server, { agent: 'able', prompt: worked })
    await server.sessions.get(id)?.settled(1)
    const fork = () =>
      call(server, `POST /v1/sessions/${id}/fork`, {
        body: { name: 'copy' },
        headers: { 'idempotency-key': 'fork-1' },
      })
    const [first, again] = [await fork(), await fork()]
    expect(first).toMatchObject({ status: 201, body: { agent: 'able' } })
    expect(first.body.id).not.toBe(id)
    expect(again.body).toEqual(first.body)
    const { body } = await call(server, `GET /v1/sessions/${first.body.id}`)
    expect(body).toMatchObject({ name: 'copy', resumedFrom: 'native-1', fork: true, turns: 0 })
  })

  test('needs a conversation, and an agent that can copy it', async () => {
    const empty = await begin(server, { agent: 'able' })
    expect(await post(empty, 'fork', {})).toMatchObject({ status: 409, body: { code: 'conflict' } })
    const unable = await begin(server, { prompt: worked })
    await server.sessions.get(unable)?.settled(1)
    expect(await post(unable, 'fork', {})).toMatchObject({
      status: 422,
      body: { code: 'unsupported_option' },
    })
  })
})

describe('a name', () => {
  const renamed = (id: string, body: unknown, key = 'name-1') =>
    call(server, `POST /v1/sessions/${id}/name`, { body, headers: { 'idempotency-key': key } })

  test('is given and removed, once per key, also while a turn runs', async () => {
    const id = await begin(server, { prompt: waiting, name: 'first' })
    await server.gate.reached()
    const given = await renamed(id, { name: 'heron' })
    expect(given).toMatchObject({ status: 200, body: { id, name: 'heron', status: 'busy' } })
    expect(await renamed(id, { name: null }, 'name-2')).toMatchObject({ status: 200 })
    expect((await call(server, `GET /v1/sessions/${id}`)).body).not.toHaveProperty('name')
    await renamed(id, { name: 'heron' })
    const { body } = await call(server, `GET /v1/sessions/${id}/events?types=session.updated`)
    expect(body.entries).toMatchObject([{ event: { name: 'heron' } }, { event: { name: null } }])
    server.gate.open()
    await server.sessions.get(id)?.settled(1)
  })

  test.each([{ name: 'two words' }, { name: '' }, {}, { name: 'a', title: 'b' }])(
    '%j is refused',
    async (body) => {
      const id = await begin(server)
      expect(await renamed(id, body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    },
  )

  test('of an ended session stays', async () => {
    const id = await begin(server, { name: 'first' })
    await server.sessions.end(id)
    expect(await renamed(id, { name: 'heron' })).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect((await call(server, `GET /v1/sessions/${id}`)).body).toMatchObject({ name: 'first' })
  })
})

describe('another agent', () => {
  const worked = script(text('m', 'The word is heron.'), success)
  const continued = (id: string, body: unknown, key = 'over-1') =>
    call(server, `POST /v1/sessions/${id}/agent`, { body, headers: { 'idempotency-key': key } })

  test('continues a session, once per key, and is told what was before', async () => {
    const id = await begin(server, { prompt: worked })
    await server.sessions.get(id)?.settled(1)
    const [first, again] = [await continued(id, { agent: 'able' }), await continued(id, { agent: 'able' })]
    expect(first).toMatchObject({ status: 200, body: { id, agent: 'able', turns: 1 } })
    expect(again.body).toEqual(first.body)
    expect((await typesOf(id)).filter((type) => type === 'session.handed_over')).toHaveLength(1)
    const { body } = await call(server, `GET /v1/sessions/${id}/events?types=session.handed_over`)
    expect(body.entries).toMatchObject([
      { event: { agent: 'able', from: { agent: 'puppet' }, recap: expect.stringContaining('heron') } },
    ])
  })

  test('is refused while a turn runs, if it is unknown, and with fields that do not exist', async () => {
    const id = await begin(server, { prompt: waiting })
    await server.gate.reached()
    expect(await continued(id, { agent: 'able' })).toMatchObject({ status: 409, body: { code: 'conflict' } })
    server.gate.open()
    await server.sessions.get(id)?.settled(1)
    expect(await continued(id, { agent: 'abel' }, 'over-2')).toMatchObject({
      status: 404,
      body: { code: 'agent_not_found' },
    })
    expect(await continued(id, { agent: 'able', modell: 'm' }, 'over-3')).toMatchObject({ status: 400 })
    expect(await call(server, `GET /v1/sessions/${id}`)).toMatchObject({ body: { agent: 'puppet' } })
  })
})

test.each(['compact', 'review'])('%s is refused where the agent would take it for text', async (verb) => {
  const id = await begin(server, { agent: 'able' })
  expect(await post(id, verb, {})).toMatchObject({ status: 422, body: { code: 'unsupported_option' } })
})

describe('a turn', () => {
  test('is accepted once it is durable, and numbered', async () => {
    const id = await begin(server)
    for (const turn of [1, 2]) {
      expect(await post(id, 'turns', { prompt: script(success) })).toMatchObject({
        status: 202,
        body: { turn },
      })
      await server.sessions.get(id)?.settled(turn)
    }
    const { body } = await call(server, `GET /v1/sessions/${id}`)
    expect(body).toMatchObject({ status: 'idle', turns: 2, lastOutcome: 'completed' })
  })

  test('is queued while another one runs, and is listed', async () => {
    const id = await begin(server, { prompt: waiting })
    await server.gate.reached()
    expect((await post(id, 'turns', { prompt: script(success) })).body).toEqual({ turn: 2 })
    const { body } = await call(server, `GET /v1/sessions/${id}`)
    expect(body).toMatchObject({ status: 'busy', openTurn: 1, queue: [{ turn: 2 }] })
    await server.gate.open()
    await server.sessions.get(id)?.settled(2)
    expect(await typesOf(id)).toContain('turn.queued')
  })

  test('is removed from the queue, once, and a turn that has begun is not', async () => {
    const id = await begin(server, { prompt: waiting })
    await server.gate.reached()
    await post(id, 'turns', { prompt: script(success) })
    const remove = (turn: number) => call(server, `DELETE /v1/sessions/${id}/turns/${turn}`)
    expect(await remove(2)).toMatchObject({ status: 200, body: { openTurn: 1, queue: [] } })
    for (const turn of [1, 2, 3])
      expect(await remove(turn)).toMatchObject({ status: 409, body: { code: 'conflict' } })
    await server.gate.open()
    await server.sessions.get(id)?.settled(1)
    const { body } = await call(server, `GET /v1/sessions/${id}`)
    expect(body).toMatchObject({ status: 'idle', turns: 2, lastOutcome: 'completed' })
  })

  test('accepts images if the agent does, and is rejected otherwise', async () => {
    const images = [{ mimeType: 'image/png', data: 'AAAA' }]
    const id = await begin(server, { agent: 'able' })
    expect((await post(id, 'turns', { prompt: script(success), images })).status).toBe(202)
    const blind = await begin(server)
    expect(await post(blind, 'turns', { prompt: script(success), images })).toMatchObject({
      status: 422,
      body: { code: 'unsupported_option' },
    })
  })

  test.each([{}, { prompt: '' }, { prompt: 5 }, { prompt: 'x', more: 1 }, { prompt: 'x', images: [{}] }, []])(
    'of %j is refused',
    async (body) => {
      expect((await post(await begin(server), 'turns', body)).status).toBe(400)
    },
  )

  test('of an ended session is a conflict', async () => {
    const id = await begin(server)
    await post(id, 'end')
    expect(await post(id, 'turns', { prompt: 'x' })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    })
  })
})

describe('interrupt', () => {
  test('answers when the turn has its end', async () => {
    const id = await begin(server, { prompt: waiting })
    await server.gate.reached()
    const { status, body } = await post(id, 'interrupt')
    expect([status, body.status, body.lastOutcome]).toEqual([200, 'idle', 'interrupted'])
  })

  test('of a session at rest changes nothing', async () => {
    const id = await begin(server)
    const { body } = await post(id, 'interrupt')
    expect(body).toMatchObject({ status: 'idle', head: 1 })
    await post(id, 'end')
    expect((await post(id, 'interrupt')).body).toMatchObject({ status: 'ended', head: 2 })
  })

  test('is accepted by a stopping server', async () => {
    let phase: 'ready' | 'draining' = 'ready'
    await using stopping = await startGateway({ phase: () => phase })
    const id = await begin(stopping, { prompt: waiting })
    await stopping.gate.reached()
    phase = 'draining'
    expect((await call(stopping, `POST /v1/sessions/${id}/interrupt`)).body.lastOutcome).toBe('interrupted')
    const turn = await call(stopping, `POST /v1/sessions/${id}/turns`, { body: { prompt: 'x' } })
    expect(turn).toMatchObject({ status: 503, body: { code: 'draining' } })
  })
})

describe('end', () => {
  test('cancels the running turn, drops queued ones and ends the log, once', async () => {
    const id = await begin(server, { prompt: waiting })
    await server.gate.reached()
    await post(id, 'turns', { prompt: waiting })
    const { body } = await post(id, 'end')
    expect(body).toMatchObject({ status: 'ended', queue: [] })
    expect((await post(id, 'end')).body).toEqual(body)
    const types = await typesOf(id)
    expect(types.filter((type) => type === 'turn.completed')).toHaveLength(2)
    expect(types.filter((type) => type === 'session.ended')).toHaveLength(1)
    expect(types.at(-1)).toBe('session.ended')
  })
})

describe('a session that can be talked to', () => {
  test('is steered, and changed', async () => {
    const id = await begin(server, { agent: 'able', prompt: waiting })
    await server.gate.reached()
    expect((await post(id, 'steer', { prompt: 'to the left' })).status).toBe(200)
    expect((await post(id, 'model', { model: 'large' })).body.model).toBe('large')
    const policy = { approval: 'auto-edit', sandbox: 'none' }
    expect((await post(id, 'mode', { policy })).status).toBe(200)
    await server.gate.open()
    await server.sessions.get(id)?.settled(1)
    await post(id, 'end')
    const events = (await streamed(server, `/v1/sessions/${id}/events`)).map(({ data }) => data.event)
    for (const message of ['to the left', 'auto-edit']) {
      expect(events).toContainEqual(expect.objectContaining({ type: 'notice.raised', message }))
    }
  })

  test('is not steered without a turn', async () => {
    const id = await begin(server, { agent: 'able' })
    expect(await post(id, 'steer', { prompt: 'x' })).toMatchObject({ status: 409 })
  })

  test('accepts no policy above the ceiling, and no native mode of unknown meaning', async () => {
    const id = await begin(server, { agent: 'able' })
    for (const body of [{ policy: { approval: 'auto-all', sandbox: 'none' } }, { mode: 'anything' }]) {
      expect(await post(id, 'mode', body)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
    await using open = await startGateway({ ceiling: { approval: 'auto-all', sandbox: 'full-access' } })
    const free = await begin(open, { agent: 'able' })
    const changed = await call(open, `POST /v1/sessions/${free}/mode`, { body: { mode: 'anything' } })
    expect(changed.status).toBe(200)
  })

  test.each([
    ['steer', {}],
    ['model', { model: '--x' }],
    ['mode', {}],
    ...['', '-p', '--dangerously', 'a\nb', 'a\0b', 'a\x7f', 'a\u202eb', 'x'.repeat(201)].map(
      (mode): [string, object] => ['mode', { mode }],
    ),
    ['mode', { mode: 'a', policy: { approval: 'ask', sandbox: 'none' } }],
  ])('refuses %s with %j', async (command, body) => {
    expect((await post(await begin(server, { agent: 'able' }), command, body)).status).toBe(400)
  })
})

test.each([
  ['steer', { prompt: 'x' }],
  ['model', { model: 'x' }],
])('%s is refused by an agent that has it not', async (command, body) => {
  const answer = await post(await begin(server), command, body)
  expect(answer).toMatchObject({ status: 422, body: { code: 'unsupported_option' } })
})

test('an agent without modes accepts another policy, and the response reports when it applies', async () => {
  const policy = { approval: 'auto-edit', sandbox: 'none' }
  const id = await begin(server)
  expect(await post(id, 'mode', { policy })).toMatchObject({ status: 200, body: { policy, applied: 'now' } })
})

test('the same key gets the same answer to a change', async () => {
  const id = await begin(server, { agent: 'able' })
  const headers = { 'idempotency-key': 'change-1' }
  const change = () => call(server, `POST /v1/sessions/${id}/model`, { body: { model: 'other' }, headers })
  const first = await change()
  expect(first.body).toMatchObject({ options: { model: 'other' }, applied: 'now' })
  expect((await change()).body).toEqual(first.body)
})
