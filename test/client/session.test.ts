import { describe, expect, it } from 'vitest'
import {
  AgentClient,
  type AgentClientOptions,
  AgentError,
  FallbackTransport,
  HttpTransport,
  MockTransport,
  SseTransport,
  type Timers,
  type Transport,
  WebSocketTransport,
} from '../../src/client/index.ts'
import { type ErrorCode, MainstemError } from '../../src/model/index.ts'
import { script, success, text } from '../gateway/puppet.ts'
import { startGateway, TOKEN } from '../gateway/start.ts'
import { breaking, chunks, collect, lines, quick } from './scene.ts'

const client = (transport: Transport, more: Partial<AgentClientOptions> = {}) =>
  new AgentClient({ agentType: 'echo', transport, timers: quick, ...more })

/** A mock whose calls may be replaced. */
const mock = (count: number, more: Partial<Transport>): Transport => ({
  ...breaking(new MockTransport(lines(chunks(count))), []),
  ...more,
})

async function* failing(code: ErrorCode) {
  yield* []
  throw new MainstemError(code, 'as it was told')
}

const unreachable = () => failing('connection_failed')

describe('a session', () => {
  it('skips unknown message types and fields', async () => {
    const [first, last] = chunks(1)
    const transport = new MockTransport([
      JSON.stringify({ ...first, isNew: true }),
      JSON.stringify({ ...first, type: 'thoughtChunk' }),
      JSON.stringify(last),
    ])
    const session = await client(transport).createSession({ prompt: 'x' })
    expect((await collect(session.events)).map(({ type }) => type)).toEqual(['textChunk', 'sessionEnded'])
  })

  it.each([
    ['is not JSON', '{'],
    ['has no type', '{"id":"1"}'],
    ['lacks what its type must have', JSON.stringify({ ...chunks(1)[0], content: undefined })],
    ['lacks what every event has', '{"type":"turnStarted"}'],
  ])('refuses a message that %s', async (_what, line) => {
    const session = await client(new MockTransport([line])).createSession({ prompt: 'x' })
    await expect(collect(session.events)).rejects.toMatchObject({ type: 'protocolError', nativeError: line })
  })

  it('resumes at a cursor, and reports the cursor of each event', async () => {
    const session = await client(new MockTransport(lines(chunks(5)))).createSession({ prompt: 'x' })
    const all = await collect(session.read())
    const third = all[2]?.cursor
    if (!third) throw new Error('there is a third event')
    expect(await collect(session.read({ after: third }))).toEqual(all.slice(3))
  })

  it.each([
    ['a WebSocket', WebSocketTransport],
    ['server-sent events', SseTransport],
    ['polling', HttpTransport],
  ])('that is done ends at once for a reader with the last cursor, over %s', async (_name, Way) => {
    await using server = await startGateway()
    const options = { baseUrl: server.url, token: TOKEN, timers: quick }
    const transport = new Way(options)
    const reader = client(transport, { agentType: 'puppet' })
    const session = await reader.createSession({ prompt: script(text('a', 'one'), success) })
    const last = (await collect(session.read())).at(-1)
    expect(await collect(session.read({ after: last?.cursor ?? { count: 0 } }))).toEqual([])
  })

  it('waits longer before each try, up to a limit, and gives up in the end', async () => {
    const pauses: number[] = []
    const timers: Timers = {
      sleep(ms, signal) {
        if (ms < 20_000) pauses.push(ms)
        return quick.sleep(ms, signal)
      },
    }
    const retry = { retries: 5, minDelayMs: 100, maxDelayMs: 1_000 }
    const broken = mock(1, { connect: unreachable })
    const session = await client(broken, { timers, retry, random: () => 1 }).createSession({ prompt: 'x' })
    await expect(collect(session.events)).rejects.toMatchObject({
      type: 'connectionFailed',
      agentType: 'echo',
    })
    expect(pauses).toEqual([100, 200, 400, 800, 1_000])
  })

  it('does not try again where nothing would be better', async () => {
    let tries = 0
    const transport = mock(1, {
      connect() {
        tries++
        return failing('unauthorized')
      },
    })
    const session = await client(transport).createSession({ prompt: 'x' })
    await expect(collect(session.events)).rejects.toMatchObject({ type: 'authenticationFailed' })
    expect(tries).toBe(1)
  })

  it('leaves a connection that is silent although there is more', async () => {
    const events = chunks(4)
    const whole = new MockTransport(lines(events))
    const connections = [0]
    let fallSilent = () => undefined as undefined
    async function* silent(signal: AbortSignal) {
      yield [{ text: lines(events)[0] ?? '', cursor: { count: 1 } }]
      const gone = new Promise((resolve) => signal.addEventListener('abort', resolve))
      setImmediate(() => fallSilent())
      await gone
    }
    const transport: Transport = {
      ...breaking(whole, []),
      connect: (session, from, signal) =>
        connections.pop() === undefined ? whole.connect(session, from, signal) : silent(signal),
    }
    const timers: Timers = {
      sleep: (ms) =>
        new Promise((resolve) => {
          if (ms < 20_000) resolve()
          fallSilent = () => resolve() as undefined
        }),
    }
    const session = await client(transport, { timers }).createSession({ prompt: 'x' })
    expect(await collect(session.events)).toEqual(events)
  })

  it('stops reading when its signal fires, and the session continues', async () => {
    await using server = await startGateway()
    const transport = new WebSocketTransport({ baseUrl: server.url, token: TOKEN })
    const session = await client(transport, { agentType: 'puppet' }).createSession({
      prompt: script(text('a', 'one'), { ...success, wait: true }),
    })
    const leave = new AbortController()
    const reading = (async () => {
      for await (const { event } of session.read({ signal: leave.signal }))
        if (event.type === 'textChunk') leave.abort()
    })()
    await expect(reading).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
    expect(await session.state()).toBe('running')
    await server.gate.open()
    expect((await collect(session.events)).at(-1)).toMatchObject({ reason: 'completed' })
  })

  it('is cancelled by the signal it was created with, and its events say so', async () => {
    await using server = await startGateway()
    const transport = new HttpTransport({ baseUrl: server.url, token: TOKEN, timers: quick })
    const cancel = new AbortController()
    const session = await client(transport, { agentType: 'puppet' }).createSession({
      prompt: script(text('a', 'one'), { ...success, wait: true }),
      signal: cancel.signal,
    })
    const ends = []
    for await (const event of session.events) {
      if (event.type === 'textChunk') cancel.abort()
      if (event.type === 'sessionEnded') ends.push(event.reason)
    }
    expect(ends).toEqual(['cancelled'])
    expect(await session.state()).toBe('cancelled')
  })

  it('that began while its signal fired is cancelled all the same', async () => {
    const cancel = new AbortController()
    const whole = new MockTransport(lines(chunks(1)))
    const transport: Transport = {
      ...breaking(whole, []),
      create(request) {
        cancel.abort()
        return whole.create(request)
      },
    }
    const creating = client(transport).createSession({ prompt: 'x', signal: cancel.signal })
    await expect(creating).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
    expect(await whole.state()).toBe('cancelled')
  })
})

describe('a fallback', () => {
  it('takes the next transport where one cannot be opened, and stays with it', async () => {
    const events = chunks(6)
    const works = breaking(new MockTransport(lines(events)), [2, 2])
    const transport = new FallbackTransport(mock(6, { connect: unreachable }), works)
    const session = await client(transport).createSession({ prompt: 'x' })
    expect(await collect(session.events)).toEqual(events)
    expect(transport.current).toBe(works)
  })

  it('begins again with the first when none works, and says why the last did not', async () => {
    const first = mock(1, { connect: unreachable })
    const last = mock(1, { connect: () => failing('session_not_found') })
    const transport = new FallbackTransport(first, last)
    const session = await client(transport).createSession({ prompt: 'x' })
    await expect(collect(session.events)).rejects.toMatchObject({ type: 'sessionNotFound' })
    expect(transport.current).toBe(first)
  })

  it('fetches what a server without sockets and streams can only be asked for', async () => {
    await using server = await startGateway()
    const options = { baseUrl: server.url, token: TOKEN, timers: quick }
    const nowhere = new WebSocketTransport({ ...options, baseUrl: 'http://127.0.0.1:1' })
    const transport = new FallbackTransport(new HttpTransport(options), nowhere)
    const session = await client(transport).createSession({ prompt: 'hello' })
    const reader = new FallbackTransport(nowhere, new HttpTransport(options))
    const [started] = await collect(client(reader).session(session.id).events)
    expect(started).toMatchObject({ type: 'sessionStarted', sessionId: session.id })
  })
})

describe('a server that refuses', () => {
  it.each([
    ['a wrong token', { token: 'x'.repeat(43) }, {}, 'authenticationFailed'],
    ['a policy above its ceiling', {}, { approvalMode: 'autoAll' as const }, 'permissionDenied'],
    ['an option that makes no sense', {}, { maxTurns: 1_001 }, 'protocolError'],
  ])('%s says so with a type of the closed list', async (_what, options, config, type) => {
    await using server = await startGateway()
    const transport = new HttpTransport({ baseUrl: server.url, token: TOKEN, ...options })
    const creating = client(transport).createSession({ prompt: 'x', config })
    await expect(creating).rejects.toThrow(AgentError)
    await expect(creating).rejects.toMatchObject({ type, agentType: 'echo' })
  })

  it('an unknown session is not found, on every transport', async () => {
    await using server = await startGateway()
    const options = { baseUrl: server.url, token: TOKEN, timers: quick }
    for (const transport of [new WebSocketTransport(options), new HttpTransport(options)]) {
      const session = client(transport).session('11111111-1111-4111-8111-111111111111')
      await expect(collect(session.events)).rejects.toMatchObject({ type: 'sessionNotFound' })
      await expect(session.cancel()).rejects.toMatchObject({ type: 'sessionNotFound' })
    }
  })

  it('a slow reader of a socket loses nothing', async () => {
    await using server = await startGateway()
    const transport = new WebSocketTransport({ baseUrl: server.url, token: TOKEN, maxWaiting: 10 })
    const session = await client(transport, { agentType: 'puppet' }).createSession({
      prompt: script({ flood: { texts: 100, size: 5 } }, success),
    })
    const texts = (await collect(session.events)).filter(({ type }) => type === 'textChunk')
    expect(texts).toHaveLength(100)
  })
})
