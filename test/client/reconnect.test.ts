import fc from 'fast-check'
import { describe, expect, it, onTestFailed, vi } from 'vitest'
import { CuttingProxy } from '../../faults/resumes/cutting-proxy.ts'
import {
  AgentClient,
  type AgentEvent,
  type HttpOptions,
  HttpTransport,
  MainstemClient,
  MockTransport,
  SseTransport,
  type Transport,
  WebSocketTransport,
} from '../../src/client/index.ts'
import { script, success } from '../gateway/puppet.ts'
import { startGateway, type TestGateway, TOKEN } from '../gateway/start.ts'
import { breaking, chunks, collect, lines, quick, StdioScene } from './scene.ts'

vi.setConfig({ testTimeout: 120_000 })

const RECONNECTS = 200

/** Half of it is there when the reader comes, the other half happens while it reads. */
const TALK = script(
  { flood: { texts: 250, size: 10 } },
  { flood: { texts: 250, size: 10 }, wait: true },
  success,
)

/** Where connections break: after 0 to 3 messages, for as many times as there are reconnects. */
const breaks = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: RECONNECTS, maxLength: RECONNECTS })

const [randomBreaks = []] = fc.sample(breaks, { seed: 20_261_116, numRuns: 1 })

/** Opens the gate again and again, because the agent may not have come to it yet. */
async function readAll(server: TestGateway, transport: Transport): Promise<AgentEvent[]> {
  const reader = breaking(transport, randomBreaks)
  const client = new AgentClient({
    agentType: 'puppet',
    transport: reader,
    timers: quick,
    retry: { retries: RECONNECTS },
  })
  const session = await client.createSession({ prompt: TALK })
  const seen: AgentEvent[] = []
  // A reader that waits forever says where.
  onTestFailed(() =>
    console.error(
      `saw ${seen.length} events, the last: ${JSON.stringify(seen.at(-1))}; ${reader.left} breaks left`,
    ),
  )
  for await (const event of session.events) {
    seen.push(event)
    if (seen.length === 150) void openAll(server, 250)
  }
  expect(reader.left, 'every break happened').toBe(0)
  return seen
}

async function openAll(server: TestGateway, times: number): Promise<void> {
  for (let time = 0; time < times; time++) await server.gate.open()
}

const said = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'textChunk' ? [event.content.split(' ')[0]] : []))

const EXPECTED = [...Array(250).keys(), ...Array(250).keys()].map(String)

describe(`a reader that is cut off ${RECONNECTS} times at random points sees each event once, in order`, () => {
  it.each([
    ['a WebSocket', WebSocketTransport],
    ['server-sent events', SseTransport],
    ['polling', HttpTransport],
  ])('over %s', async (_name, Way) => {
    await using server = await startGateway()
    const options = { baseUrl: server.url, token: TOKEN, timers: quick }
    const seen = await readAll(server, new Way(options))
    expect(said(seen)).toEqual(EXPECTED)
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length)
    expect(seen.at(-1)).toMatchObject({ type: 'sessionEnded', reason: 'completed' })
  })

  it('over standard input and output', async () => {
    await using server = await startGateway()
    await using scene = new StdioScene(server)
    const seen = await readAll(server, scene.transport)
    expect(said(seen)).toEqual(EXPECTED)
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length)
  })

  it('over a mock, and over one transport after another', async () => {
    const events = chunks(500)
    const mock = new MockTransport(lines(events), { breaks: randomBreaks })
    const client = new AgentClient({ agentType: 'echo', transport: mock, timers: quick })
    const session = await client.createSession({ prompt: 'x' })
    expect(await collect(session.events)).toEqual(events)

    await using server = await startGateway()
    const options = { baseUrl: server.url, token: TOKEN, timers: quick }
    const ways = [new WebSocketTransport(options), new SseTransport(options), new HttpTransport(options)]
    const [first] = ways
    if (!first) throw new Error('there is a first way')
    let connections = 0
    const mixed: Transport = {
      ...breaking(first, []),
      connect: (...args) => (ways[connections++ % ways.length] ?? first).connect(...args),
    }
    expect(said(await readAll(server, mixed))).toEqual(EXPECTED)
    expect(connections).toBeGreaterThan(RECONNECTS)
  })

  it('by our own API', async () => {
    await using server = await startGateway()
    let connections = 0
    const client = new MainstemClient({
      baseUrl: server.url,
      token: TOKEN,
      timers: quick,
      retry: { retries: RECONNECTS },
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        const stream = response.headers.get('content-type') === 'text/event-stream'
        return stream ? cut(response, randomBreaks[connections++]) : response
      },
    })
    const { id } = await client.begin({ agent: 'puppet', prompt: TALK })
    const seen: number[] = []
    for await (const { seq, event } of client.entries(id)) {
      seen.push(seq)
      if (seen.length === 150) void openAll(server, 250)
      if (event.type === 'turn.completed') await client.end(id)
    }
    expect(connections).toBeGreaterThanOrEqual(RECONNECTS)
    expect(seen).toEqual(seen.map((_, index) => index + 1))
    expect((await client.session(id)).head).toBe(seen.length)
  })
})

describe('a reader whose connections carry 6 kB each makes progress on every one', () => {
  const LONG = script({ flood: { texts: 200, size: 60 } }, success)

  it.each([
    ['a WebSocket', (options: HttpOptions) => new WebSocketTransport(options)],
    ['server-sent events', (options: HttpOptions) => new SseTransport(options)],
    [
      'server-sent events after a WebSocket',
      (options: HttpOptions) => {
        const socket = new WebSocketTransport(options)
        const sse = new SseTransport(options)
        let connections = 0
        const connect: Transport['connect'] = (...args) =>
          (connections++ % 2 === 0 ? socket : sse).connect(...args)
        return { ...breaking(socket, []), connect }
      },
    ],
  ])('over %s', async (_name, transportOf) => {
    await using server = await startGateway()
    await using proxy = await CuttingProxy.start(server.url, 1, 6_000)
    const direct = new AgentClient({
      agentType: 'puppet',
      transport: new SseTransport({ baseUrl: server.url, token: TOKEN }),
    })
    const { id, events } = await direct.createSession({ prompt: LONG })
    const whole = await collect(events)
    const transport = transportOf({ baseUrl: proxy.url, token: TOKEN })
    const client = new AgentClient({ agentType: 'puppet', transport, timers: quick })
    expect(await collect(client.session(id).events)).toEqual(whole)
    expect(whole.length).toBeGreaterThan(200)
    expect(proxy.cuts).toBeGreaterThan(5)
  })
})

/** The same answer, broken off in the middle of the message after so many. */
function cut(response: Response, messages: number | undefined): Response {
  if (messages === undefined || !response.body) return response
  let ends = 0
  const broken = new TransformStream<string, Uint8Array>({
    transform(text, controller) {
      for (let at = 0; at < text.length; at++) {
        if (text.startsWith('\n\n', at) && ++ends > messages) {
          controller.enqueue(new TextEncoder().encode(text.slice(0, at - 3)))
          controller.error(new TypeError('terminated'))
          return
        }
      }
      controller.enqueue(new TextEncoder().encode(text))
    },
  })
  const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(broken)
  return new Response(body, { status: response.status, headers: response.headers })
}
