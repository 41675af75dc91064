import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { parseEvent } from '../../src/client/event.ts'
import {
  AgentClient,
  type AgentEvent,
  HttpTransport,
  type ProtocolAdapter,
  SseTransport,
  type Transport,
  WebSocketTransport,
} from '../../src/client/index.ts'
import { script, success, text } from '../gateway/puppet.ts'
import { startGateway, TOKEN } from '../gateway/start.ts'
import { collect, quick } from './scene.ts'

const turnsIn = (events: readonly AgentEvent[]) => [
  ...new Set(events.flatMap((event) => ('turnNumber' in event ? [event.turnNumber] : []))),
]
const wordsIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'textChunk' ? [event.content] : []))

const TRANSPORTS: [string, (options: { baseUrl: string; token: string }) => Transport][] = [
  ['a socket', (options) => new WebSocketTransport(options)],
  ['server-sent events', (options) => new SseTransport(options)],
  ['polling', (options) => new HttpTransport({ ...options, intervalMs: 5 })],
]

/** Turns messages of the server into fewer events. */
const asIs: ProtocolAdapter = {
  async *adaptEvents(messages) {
    for await (const message of messages) {
      const event = parseEvent(String(message))
      if (event && event.type !== 'sessionStarted') yield event
    }
  },
  translateRequest: (body) => ({ kind: 'http', method: 'POST', path: '/api/sessions', body }),
  translateConfig: () => ({}),
}

/** The same client without and with an adapter, which `resumeSession` leaves to translate the request. */
const WAYS = TRANSPORTS.flatMap(([name, transportTo]) =>
  [undefined, asIs].map((adapter) => ({
    name: adapter ? `${name}, through an adapter` : name,
    transportTo,
    adapter,
  })),
)

/** A server that does not report the turn of a prompt. */
function withoutTurn(transport: Transport): Transport {
  return {
    create: async (request, options) => {
      const { turn: _, ...created } = await transport.create(request, options)
      return created
    },
    list: (signal) => transport.list(signal),
    state: (session, signal) => transport.state(session, signal),
    cancel: (session, signal) => transport.cancel(session, signal),
    answer: (session, id, answer, signal) => transport.answer(session, id, answer, signal),
    count: (session, least, signal) => transport.count(session, least, signal),
    connect: (session, from, signal) => transport.connect(session, from, signal),
  }
}

describe.each(WAYS)('over $name', ({ transportTo, adapter }) => {
  const clientOf = (transport: Transport) =>
    new AgentClient({ agentType: 'able', transport, ...(adapter && { adapter }) })

  test('a prompt to a session at rest has its own events, if the server reports its turn or not', async () => {
    await using server = await startGateway()
    const transport = transportTo({ baseUrl: server.url, token: TOKEN })
    for (const client of [clientOf(transport), clientOf(withoutTurn(transport))]) {
      const first = await client.createSession({ prompt: script(text('a', 'one'), success) })
      await collect(first.events)
      const second = await client.resumeSession({
        sessionId: first.id,
        prompt: script(text('b', 'two'), success),
      })
      const reads = await collect(second.read())
      expect(reads.map(({ event }) => event.type)).toEqual([
        ...(adapter ? [] : ['sessionStarted']),
        ...['turnStarted', 'textChunk', 'turnCompleted', 'sessionEnded'],
      ])
      expect(wordsIn(reads.map(({ event }) => event))).toEqual(['two'])
      expect(turnsIn(reads.map(({ event }) => event))).toEqual([2])
      for (const [index, { cursor }] of reads.slice(1, -1).entries())
        expect(await collect(second.read({ after: cursor }))).toEqual(reads.slice(index + 2))
    }
  })

  test('each stream has the events of its own prompt, also during another turn', async () => {
    await using server = await startGateway()
    const transport = transportTo({ baseUrl: server.url, token: TOKEN })
    const client = clientOf(transport)
    const first = await client.createSession({ prompt: script(text('a', 'one'), { ...success, wait: true }) })
    await server.gate.reached()
    const resumed = (word: string) =>
      client.resumeSession({ sessionId: first.id, prompt: script(text(word, word), success) })
    const second = await resumed('two')
    const third = await resumed('three')
    const reads = Promise.all([first, second, third].map(({ events }) => collect(events)))
    await server.gate.open()
    const streams = await reads
    expect(streams.map(turnsIn)).toEqual([[1], [2], [3]])
    expect(streams.map(wordsIn)).toEqual([['one'], ['two'], ['three']])
    expect(streams.map((events) => events.at(-1)?.type)).toEqual([
      'turnCompleted',
      'turnCompleted',
      'sessionEnded',
    ])
    const again = await collect((await resumed('four')).events)
    expect(again.find(({ type }) => type !== 'sessionStarted')?.type).toBe('turnStarted')
    expect(again.some(({ type }) => type === 'sessionStarted')).toBe(adapter === undefined)
    expect(wordsIn(again)).toEqual(['four'])
    expect(turnsIn(await collect(client.session(first.id).events))).toEqual([1, 2, 3, 4])
  })
})

test('a prompt that was dropped from the queue ends its stream', async () => {
  await using server = await startGateway()
  const transport = new HttpTransport({ baseUrl: server.url, token: TOKEN, intervalMs: 5 })
  const client = new AgentClient({ agentType: 'puppet', transport })
  const first = await client.createSession({ prompt: script({ ...success, wait: true }) })
  await server.gate.reached()
  const second = await client.resumeSession({ sessionId: first.id, prompt: script(success) })
  const reads = Promise.all([first, second].map(({ events }) => collect(events)))
  await first.cancel()
  for (const events of await reads)
    expect(events.at(-1)).toMatchObject({ type: 'sessionEnded', reason: 'cancelled' })
})

describe('a replay of many turns', () => {
  test.each(TRANSPORTS)('over %s asks for the state a few times', async (_name, transportTo) => {
    await using server = await startGateway()
    const direct = new HttpTransport({ baseUrl: server.url, token: TOKEN, timers: quick })
    const client = new AgentClient({ agentType: 'puppet', transport: direct, timers: quick })
    const session = await client.createSession({ prompt: script(success) })
    await collect(session.events)
    for (let turn = 2; turn <= 40; turn++)
      await collect((await client.resumeSession({ sessionId: session.id, prompt: script(success) })).events)
    await using proxy = await countingProxy(server.url)
    const transport = transportTo({ baseUrl: proxy.url, token: TOKEN })
    const reader = new AgentClient({ agentType: 'puppet', transport }).session(session.id)
    expect(turnsIn(await collect(reader.events))).toHaveLength(40)
    expect(proxy.requests()).toBeLessThan(12)
  })
})

/** Passes requests and upgrades on, and counts them. */
async function countingProxy(target: string) {
  let requests = 0
  const passed = (path: string | undefined, method: string | undefined, headers: object) =>
    request(new URL(path ?? '/', target), { method, headers: { ...headers } })
  const server = createServer((incoming, outgoing) => {
    requests++
    const on = passed(incoming.url, incoming.method, incoming.headers)
    on.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
    })
    outgoing.on('close', () => on.destroy())
    on.on('error', () => outgoing.destroy())
    incoming.pipe(on)
  })
  server.on('upgrade', (incoming, socket) => {
    requests++
    const on = passed(incoming.url, incoming.method, incoming.headers)
    on.on('upgrade', (response, other, head) => {
      const lines = Object.entries(response.headers).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
      socket.write(head)
      other.pipe(socket).on('error', () => other.destroy())
      socket.pipe(other).on('error', () => socket.destroy())
    })
    on.on('error', () => socket.destroy())
    on.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
