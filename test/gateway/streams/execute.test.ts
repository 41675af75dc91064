import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Emitted } from '../../../src/agents/agent.ts'
import type { Problem } from '../../../src/gateway/http/problem.ts'
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

const told = (id: string, event: Record<string, unknown>) => ({ id, data: event })

describe('a task', () => {
  test('for the echo agent is answered with the two documented lines', async () => {
    const response = await server.execute({ task: 'Respond exactly: ok' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
    expect(lines).toEqual([
      'data: {"kind":"agent_token","text":"Respond exactly: ok"}',
      expect.stringMatching(/^data: \{"kind":"session_end","exit_code":0,"duration_ms":\d+\}$/),
    ])
  })

  test('arrives unchanged, with any characters', async () => {
    const odd = 'a\u2028b\u2029c\r\nd\0e\ud83d\ude00 "\\ data: x\n\nid: 9'
    const stream = await (await server.execute({ task: odd })).text()
    expect(stream).not.toMatch(/[\u2028\u2029\r]/)
    expect(parseEvents(stream)[0]).toEqual(told('3', { kind: 'agent_token', text: odd }))
  })

  test('with half a character is refused, because the agent would get another text', async () => {
    const response = await server.execute({ task: 'a\ud83d' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining('lone surrogate') })
  })

  test('has an answer that parsers of every language accept', async () => {
    const task = script(text('m1', 'half \ud83d, text \\ud83d'), success)
    const stream = await (await server.execute({ driver: 'puppet', task })).text()
    expect(parseEvents(stream)[0]?.data.text).toBe('half \ufffd, text \\ud83d')
    expect(stream).not.toMatch(/[^\\]\\ud/)
  })

  test('in a live session ends with its turn too', async () => {
    const response = await server.execute({ mode: 'live' })
    expect(parseEvents(await response.text()).at(-1)?.data).toMatchObject({
      kind: 'session_end',
      exit_code: 0,
    })
  })

  test('that needs a permission is denied, because no client can grant it', async () => {
    const ask: Emitted = {
      type: 'request.opened',
      requestId: 'r1',
      kind: 'permission',
      blocking: true,
      options: [],
    }
    const denied: Emitted = { type: 'turn.verdict', evidence: 'success', denials: 1, personDenials: 0 }
    const body = { driver: 'puppet', task: script({ say: ask }, { say: denied, wait: true }) }
    const response = await server.execute(body)
    await server.gate.open()
    expect(parseEvents(await response.text()).at(-1)?.data).toMatchObject({ exit_code: 5, outcome: 'denied' })
    const log = await server.execute(body, { path: '/v1/execute?dialect=mainstem' })
    const events = parseEvents(await log.text()).map(({ data }) => data.event)
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'request.resolved', decision: 'deny', by: 'policy' }),
    )
    expect(events.at(-1)).toMatchObject({ type: 'session.ended' })
  })
})

describe('the same key', () => {
  test('and body replay the run byte for byte, and it runs once', async () => {
    const first = await server.execute()
    const bytes = await first.text()
    const second = await server.execute()
    expect(await second.text()).toBe(bytes)
    expect(second.headers.get('mainstem-session')).toBe(first.headers.get('mainstem-session'))
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect(second.headers.get('idempotent-replayed')).toBe('true')
  })

  test('and body in another order of fields are the same request', async () => {
    const body = { driver: 'echo', policy: { sandbox: 'none', approval: 'ask' } }
    const swapped = { policy: { approval: 'ask', sandbox: 'none' }, driver: 'echo' }
    const bytes = await (await server.execute(body)).text()
    expect(await (await server.execute(swapped)).text()).toBe(bytes)
  })

  test('joins the run in flight', async () => {
    const body = {
      driver: 'puppet',
      task: script(text('m1', 'one'), { ...text('m2', 'two'), wait: true }, success),
    }
    const first = await server.execute(body)
    await server.gate.reached()
    const second = new StreamReader(await server.execute(body))
    await second.until('"one"')
    expect(second.text).not.toContain('"two"')
    await server.gate.open()
    const whole = await first.text()
    expect(whole).toContain('"two"')
    expect(await second.whole()).toBe(whole)
  })

  test('joins the run of a server that is stopping, which starts no other', async () => {
    let phase: 'ready' | 'draining' = 'ready'
    await using stopping = await startGateway({ phase: () => phase })
    const body = { driver: 'puppet', task: script({ ...text('m1', 'one'), wait: true }, success) }
    const first = await stopping.execute(body)
    await stopping.gate.reached()
    phase = 'draining'
    const second = await stopping.execute(body)
    expect(second.status).toBe(200)
    const fresh = await stopping.execute({ ...body, idempotency_key: 'another' })
    expect(await fresh.json()).toMatchObject({ status: 503, code: 'draining' })
    await stopping.gate.open()
    expect(await second.text()).toBe(await first.text())
  })

  test('sent twenty times at once starts one run', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => server.execute()))
    expect(new Set(responses.map((response) => response.headers.get('mainstem-session'))).size).toBe(1)
    const streams = await Promise.all(responses.map((response) => response.text()))
    expect(new Set(streams).size).toBe(1)
  })

  test.each([
    ['task', { task: 'another' }],
    ['driver', { driver: 'puppet' }],
    ['model', { model: 'opus' }],
    ['mode', { mode: 'live' }],
    ['policy', { policy: { approval: 'auto-edit' } }],
  ])('with another %s is a conflict', async (_, other) => {
    await (await server.execute()).text()
    const response = await server.execute(other)
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ code: 'idempotency_conflict' })
  })
})

describe('a request', () => {
  test.each([{ model: null }, { auth_token: null, mode: null, cwd: null, policy: null }])(
    'treats null as an omitted field: %o',
    async (nulls) => {
      const response = await server.execute(nulls, { headers: { authorization: `Bearer ${TOKEN}` } })
      expect([response.status, await response.text()]).toEqual([
        200,
        expect.stringContaining('"exit_code":0'),
      ])
      // The same request, with and without them.
      expect((await server.execute()).headers.get('idempotent-replayed')).toBe('true')
    },
  )

  test.each([
    ['idempotency_key', undefined],
    ['idempotency_key', ''],
    ['idempotency_key', 'a\nb'],
    ['idempotency_key', 'k'.repeat(256)],
    ['task', undefined],
    ['task', ''],
    ['task', 5],
    ['driver', undefined],
    ['driver', '--dangerously-skip-permissions'],
    ['driver', '../claude'],
    ['driver', `a${'b'.repeat(10_000)}`],
    ['model', '--model'],
    ['model', 'a b'],
    ['model', 'opus\0'],
    ['mode', 'batch'],
    ['cwd', ''],
    ['cwd', 'x'.repeat(10_000)],
    ['policy', 'auto-all'],
    ['policy.approval', undefined, { policy: { approval: 'always' } }],
    ['policy.tools.denied.0', undefined, { policy: { tools: { denied: ['--x'] } } }],
    ['prompt', undefined, { prompt: 'an unknown field' }],
  ])('with a wrong %s (%j) is refused by name', async (field, value, more: object = {}) => {
    const response = await server.execute({ ...(!field.includes('.') && { [field]: value }), ...more })
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    const problem = (await response.json()) as Problem
    expect(problem).toMatchObject({ code: 'invalid_request', status: 400, field })
    expect(problem.detail).toContain(field)
  })

  test('for an unknown agent lists the known agents', async () => {
    const response = await server.execute({ driver: 'nobody' })
    expect(response.status).toBe(404)
    const problem = (await response.json()) as Problem
    expect(problem.code).toBe('agent_not_found')
    expect(problem.detail).toContain('echo, puppet')
  })

  test('for an unknown dialect lists the known dialects', async () => {
    const response = await server.execute({}, { path: '/v1/execute?dialect=klingon' })
    expect(await response.json()).toMatchObject({ status: 400, field: 'dialect' })
  })

  test('that is refused leaves the key unused', async () => {
    expect((await server.execute({ driver: 'nobody' })).status).toBe(404)
    expect((await server.execute({ policy: { approval: 'auto-all' } })).status).toBe(403)
    expect((await server.execute()).status).toBe(200)
  })
})

describe('a client that reconnects', () => {
  const usage = { input: 3, output: 4 }
  const failed = { type: 'turn.verdict', evidence: 'error', usage, denials: 0, personDenials: 0 } as const
  const tool = { toolId: 't1', name: 'Bash', kind: 'execute' } as const
  const body = {
    driver: 'puppet',
    task: script(
      text('m1', 'one'),
      { say: { type: 'output.written', stream: 'stderr', line: 'oh no' } },
      { say: { type: 'tool.started', ...tool } },
      { say: { type: 'tool.completed', ...tool, status: 'success', output: 'ok' } },
      text('m2', 'two'),
      { say: failed },
    ),
  }
  const from = (id: string, more: object = {}) =>
    server.execute({ ...body, ...more }, { headers: { 'last-event-id': id } })

  test('gets exactly what followed, after every id there is', async () => {
    const whole = await (await server.execute(body)).text()
    const events = parseEvents(whole)
    expect(events.map(({ id }) => id)).toEqual(['3', '5', '6.1', '6.2', '7', '8.1', '8.2', '8.3', '8.4'])
    for (const { id } of events) {
      const rest = await (await from(id)).text()
      expect(whole.endsWith(`\n\n${rest}`)).toBe(true)
      expect(parseEvents(rest)).toEqual(events.slice(events.findIndex((event) => event.id === id) + 1))
    }
    expect(await (await from('0')).text()).toBe(whole)
  })

  test.each(['x', '-1', '3.0', '3.', '1e3', '03', '3 4', `${2 ** 60}`])(
    'with the id %j is refused',
    async (id) => {
      await (await server.execute(body)).text()
      const response = await from(id)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ field: 'Last-Event-ID' })
    },
  )

  // Entries without a message, an entry with two messages, and parts that it does not have.
  test.each(['1', '2', '4', '6', '3.1', '6.3', '8.5', '9'])(
    'with the id %j, which the run never sent, is refused',
    async (id) => {
      await (await server.execute(body)).text()
      const response = await from(id)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ code: 'invalid_request', field: 'Last-Event-ID' })
    },
  )

  test('from beyond the end is refused', async () => {
    const whole = await (await server.execute(body)).text()
    const response = await server.execute(body, { headers: { 'last-event-id': '1000' } })
    expect(await response.json()).toMatchObject({ status: 400, field: 'Last-Event-ID' })
    expect(whole).not.toBe('')
  })

  test('to a run that is not known starts nothing', async () => {
    const response = await from('3')
    expect(await response.json()).toMatchObject({ status: 400, field: 'Last-Event-ID' })
    const fresh = await server.execute(body)
    expect(fresh.headers.get('idempotent-replayed')).toBeNull()
  })

  test('with another body is a conflict', async () => {
    await (await server.execute(body)).text()
    expect((await from('3', { task: 'other' })).status).toBe(422)
  })
})

test('a reader that leaves does not stop the run', async () => {
  const body = {
    driver: 'puppet',
    task: script(text('m1', 'one'), { ...text('m2', 'two'), wait: true }, success),
  }
  const leaving = new AbortController()
  const response = await server.execute(body, { signal: leaving.signal })
  await new StreamReader(response).until('"one"')
  await server.gate.reached()
  leaving.abort()
  await server.gate.open()
  await server.deps.runs.done()
  const events = parseEvents(await (await server.execute(body)).text())
  expect(events.map(({ data }) => data.text ?? data.kind)).toEqual(['one', 'two', 'session_end'])
  expect(events.at(-1)?.data.exit_code).toBe(0)
})

test('a session is over when its turn is', async () => {
  const response = await server.execute()
  const id = response.headers.get('mainstem-session') ?? ''
  await response.text()
  await server.deps.runs.done()
  expect(server.sessions.get(id)).toBeUndefined()
})
