import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { demo } from '../../../src/agents/demo/agent.ts'
import { EventStream } from '../../../src/gateway/streams/event-stream.ts'
import { SSE } from '../../../src/gateway/streams/format.ts'
import { script, success, text } from '../puppet.ts'
import type { TestGateway } from '../start.ts'
import { StreamReader } from '../streams/sse.ts'
import { play } from '../talker.ts'
import { create, exchange, hello, model, open, piece, result, startRpc, told } from './rpc.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startRpc()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const init = { type: 'system', subtype: 'init', model }
const onlyModel = { say: { type: 'session.updated', model } } as const
const onlyId = (nativeSessionId: string) => ({ say: { type: 'session.updated', nativeSessionId } }) as const
const call = (toolId: string, name: string, input: object) =>
  ({ say: { type: 'tool.started', toolId, name, kind: 'other', input } }) as const

describe('the documented flows', () => {
  test('a simple text response', async () => {
    const id = await create(server)
    const said = await exchange(
      server,
      id,
      play([
        hello('sdk-123'),
        piece('m1', 'The '),
        piece('m1', 'answer '),
        piece('m1', 'is 42.'),
        text('m1', 'The answer is 42.'),
        success,
      ]),
    )
    expect(said).toEqual([
      { ...init, session_id: 'sdk-123' },
      { type: 'partial', content: 'The ' },
      { type: 'partial', content: 'answer ' },
      { type: 'partial', content: 'is 42.' },
      { type: 'text', content: 'The answer is 42.' },
      { type: 'result', session_id: 'sdk-123' },
      '[DONE]',
    ])
  })

  test('tool use with text', async () => {
    const id = await create(server)
    const said = await exchange(
      server,
      id,
      play([
        onlyModel,
        piece('m1', 'Let me check...'),
        call('t1', 'Bash', { command: 'ls -la' }),
        { say: { type: 'tool.progressed', toolId: 't1', message: 'Running command...' } },
        piece('m2', 'Here are the files:\n'),
        piece('m2', '- src/\n- Cargo.toml'),
        text('m2', 'Here are the files:\n- src/\n- Cargo.toml'),
        onlyId('sdk-456'),
        success,
      ]),
    )
    expect(said).toEqual([
      init,
      { type: 'partial', content: 'Let me check...' },
      { type: 'tool_use', tool: 'Bash', input: { command: 'ls -la' } },
      { type: 'tool_use', tool: 'Bash', message: 'Running command...' },
      { type: 'partial', content: 'Here are the files:\n' },
      { type: 'partial', content: '- src/\n- Cargo.toml' },
      { type: 'text', content: 'Here are the files:\n- src/\n- Cargo.toml' },
      { type: 'result', session_id: 'sdk-456' },
      '[DONE]',
    ])
  })

  test('AskUserQuestion ends the exchange, and the turn waits for the answer', async () => {
    const id = await create(server)
    const options = [{ label: 'Option A' }, { label: 'Option B' }]
    const questions = [{ id: 'q1', text: 'Which approach?', options }]
    const said = await exchange(
      server,
      id,
      play(
        [
          hello('sdk-789'),
          piece('m1', 'I need to clarify a few things.'),
          {
            say: {
              type: 'request.opened',
              requestId: 'r1',
              kind: 'question',
              blocking: true,
              options: [],
              questions,
            },
          },
        ],
        [success],
      ),
    )
    expect(said).toEqual([
      { ...init, session_id: 'sdk-789' },
      { type: 'partial', content: 'I need to clarify a few things.' },
      {
        type: 'tool_use',
        tool: 'AskUserQuestion',
        input: [
          {
            header: 'Which approach?',
            options: [
              { label: 'Option A', description: 'Option A' },
              { label: 'Option B', description: 'Option B' },
            ],
            multiSelect: false,
          },
        ],
        request_id: 'r1',
      },
      { type: 'result', session_id: 'sdk-789' },
      '[DONE]',
    ])
    expect((await server.sessions.record(id))?.openTurn).toBe(1)
    expect(await exchange(server, id, 'Option B')).toEqual([
      { ...init, session_id: 'sdk-789' },
      { type: 'text', content: 'told {"decision":"answered","answers":{"q1":["Option B"]}}' },
      { type: 'result', session_id: 'sdk-789' },
      '[DONE]',
    ])
    expect(await server.sessions.record(id)).toMatchObject({ turns: 1, lastOutcome: 'completed' })
  })

  test('a queued message', async () => {
    const id = await create(server)
    const first = await open(server, id, play([hello(), piece('m1', 'a'), { ...success, wait: true }]))
    await first.until('"partial"')
    expect(await exchange(server, id, play([text('m2', 'b'), success]))).toEqual([
      { type: 'queued', position: 1 },
      '[DONE]',
    ])
    expect(await exchange(server, id, play([text('m3', 'c'), success]))).toEqual([
      { type: 'queued', position: 2 },
      '[DONE]',
    ])
    await server.gate.open()
    expect(told(await first.whole()).at(-1)).toBe('[DONE]')
    await server.sessions.get(id)?.settled(3)
    const { bufferedEvents } = await result(server, 'session.reconnect', { sessionId: id })
    expect(bufferedEvents).toEqual([
      { ...init, session_id: 'sdk-1' },
      { type: 'text', content: 'b' },
      { type: 'result', session_id: 'sdk-1' },
      { ...init, session_id: 'sdk-1' },
      { type: 'text', content: 'c' },
      { type: 'result', session_id: 'sdk-1' },
    ])
  })

  test('an error during processing', async () => {
    const id = await create(server, { cli_type: 'puppet' })
    // A puppet that was never told how to end has crashed.
    const said = await exchange(server, id, script(onlyModel, piece('m1', 'Let me ')))
    expect(said).toEqual([
      init,
      { type: 'partial', content: 'Let me ' },
      { type: 'error', message: expect.any(String), code: 'protocol_error', outcome: 'crashed' },
      '[DONE]',
    ])
  })

  test('an interrupted operation', async () => {
    const id = await create(server)
    const stream = await open(
      server,
      id,
      play([
        onlyModel,
        piece('m1', 'Let me analyze this large codebase...'),
        call('t1', 'Glob', { pattern: '**/*' }),
        { ...success, wait: true },
      ]),
    )
    await stream.until('Glob')
    expect(await result(server, 'session.interrupt', { sessionId: id })).toEqual({
      ok: true,
      interrupted: true,
    })
    expect(told(await stream.whole())).toEqual([
      init,
      { type: 'partial', content: 'Let me analyze this large codebase...' },
      { type: 'tool_use', tool: 'Glob', input: { pattern: '**/*' } },
      { type: 'interrupted' },
      '[DONE]',
    ])
    expect(await result(server, 'session.interrupt', { sessionId: id })).toEqual({
      ok: true,
      interrupted: false,
    })
  })
})

test('pings come while an operation is silent', async () => {
  const timing = { keepaliveMs: 60_000, pingMs: 5, stallMs: 60_000, headersMs: 10_000, requestMs: 30_000 }
  await using quick = await startRpc({ timing })
  const id = await create(quick)
  const stream = await open(
    quick,
    id,
    play([
      hello(),
      piece('m1', 'Analyzing...'),
      piece('m1', ' more', true),
      { ...text('m1', 'Analyzing... more'), wait: true },
      success,
    ]),
  )
  await stream.until('Analyzing..."}\n\ndata: {"type":"ping"}')
  await quick.gate.open()
  await stream.until(' more"}\n\ndata: {"type":"ping"}')
  await quick.gate.open()
  const said = told(await stream.whole())
  expect(said.filter((message) => JSON.stringify(message) !== '{"type":"ping"}')).toEqual([
    { ...init, session_id: 'sdk-1' },
    { type: 'partial', content: 'Analyzing...' },
    { type: 'partial', content: ' more' },
    { type: 'text', content: 'Analyzing... more' },
    { type: 'result', session_id: 'sdk-1' },
    '[DONE]',
  ])
})

test('the echo agent answers on this face too', async () => {
  const id = await create(server, { cli_type: 'echo' })
  expect(await exchange(server, id, 'hello')).toEqual([
    { type: 'system', subtype: 'init' },
    { type: 'text', content: 'hello' },
    { type: 'result', session_id: id },
    '[DONE]',
  ])
})

test('the demo asks, and each message after a question is its answer, until it is done', async () => {
  await using house = await startRpc({ more: [demo] })
  const id = await create(house, { cli_type: 'demo', mode: 'ask' })
  const said: unknown[][] = []
  let message = 'go'
  do {
    const exchanged = exchange(house, id, message)
    let over = false
    void exchanged.finally(() => {
      over = true
    })
    while (!over) await Promise.race([house.gate.open(), exchanged])
    said.push(await exchanged)
    message = '1'
  } while ((await house.sessions.record(id))?.openTurn !== undefined)
  expect(said.length).toBeGreaterThan(2)
  for (const one of said) expect(one.slice(-2)).toEqual([{ type: 'result', session_id: id }, '[DONE]'])
  for (const one of said.slice(0, -1))
    expect(one.at(-3)).toMatchObject({ tool: 'AskUserQuestion', request_id: expect.any(String) })
  expect(await house.sessions.record(id)).toMatchObject({ turns: 1, lastOutcome: 'completed', queue: [] })
})

test('a steady keepalive comes also while there is something else to write', async () => {
  const format = { ...SSE, keepalive: ': ping\n\n', steady: true }
  const flood = createServer((_, response) => {
    const stream = new EventStream(response, format, {}, { keepaliveMs: 20, stallMs: 1000 })
    const write = async () => {
      while (!stream.signal.aborted) {
        await stream.write('data: 1\n\n')
        await new Promise((resolve) => setImmediate(resolve))
      }
      stream.end()
    }
    void write()
  })
  await new Promise<void>((resolve) => flood.listen(0, '127.0.0.1', resolve))
  const { port } = flood.address() as AddressInfo
  const leaving = new AbortController()
  const reader = new StreamReader(await fetch(`http://127.0.0.1:${port}`, { signal: leaving.signal }))
  await reader.until(': ping')
  leaving.abort()
  await new Promise((resolve) => flood.close(resolve))
})

test('a stream in another dialect is cut at the same places', async () => {
  const id = await create(server)
  const prompt = play([hello(), text('m1', 'one'), success])
  const stream = await (await open(server, id, prompt, { path: '/rpc?dialect=mainstem' })).whole()
  const types = stream
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)).event.type)
  expect(types).toEqual(['turn.started', 'session.updated', 'text.completed', 'turn.completed'])
  expect(stream.endsWith('data: [DONE]\n\n')).toBe(true)
})

test('the native frame is included on request', async () => {
  const id = await create(server)
  const stream = await open(server, id, play([hello(), text('m1', 'one'), success]), { path: '/rpc?raw=1' })
  expect(told(await stream.whole())).toContainEqual({
    type: 'text',
    content: 'one',
    raw: expect.objectContaining({ messageId: 'm1' }),
  })
})
