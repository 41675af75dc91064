import { describe, expect, test } from 'vitest'
import type { Emitted } from '../../src/agents/agent.ts'
import { CodexAdapter } from '../../src/client/adapters/index.ts'
import {
  AgentClient,
  HttpTransport,
  MockTransport,
  SseTransport,
  type Transport,
  WebSocketTransport,
} from '../../src/client/index.ts'
import { script, success, text } from '../gateway/puppet.ts'
import { startGateway, TOKEN } from '../gateway/start.ts'
import { collect, quick } from './scene.ts'

const thought: Emitted = { type: 'thinking.completed', messageId: 't', text: 'hm' }
const prompt = script({ say: thought }, text('a', 'one'), { say: thought }, text('b', 'two'), success)

const DOCUMENTED = [
  'sessionStarted',
  'turnStarted',
  'textChunk',
  'textChunk',
  'turnCompleted',
  'sessionEnded',
]

type Options = { baseUrl: string; token: string; extensions: boolean }

const TRANSPORTS: [string, (options: Options) => Transport][] = [
  ['a socket', (options) => new WebSocketTransport(options)],
  ['server-sent events', (options) => new SseTransport(options)],
  ['polling', (options) => new HttpTransport({ ...options, timers: quick })],
]

describe.each(TRANSPORTS)('over %s', (_name, transportTo) => {
  test('a client that turned extensions off sees the documented types, from every cursor', async () => {
    await using server = await startGateway()
    const transport = transportTo({ baseUrl: server.url, token: TOKEN, extensions: false })
    const client = new AgentClient({ agentType: 'puppet', transport, timers: quick })
    const session = await client.createSession({ prompt })
    const all = await collect(session.read())
    expect(all.map(({ event }) => event.type)).toEqual(DOCUMENTED)
    expect(await transport.count(session.id, 0)).toBe(DOCUMENTED.length)
    for (const { cursor } of all) {
      const rest = await collect(session.read({ after: cursor }))
      expect(rest.map(({ event }) => event)).toEqual(all.slice(cursor.count).map(({ event }) => event))
      const counted = await collect(session.read({ after: { count: cursor.count } }))
      expect(counted).toHaveLength(rest.length)
    }
  })
})

test('the option of the client reaches its own transport', async () => {
  await using server = await startGateway()
  const config = { baseUrl: server.url, token: TOKEN, extensions: false }
  const session = await new AgentClient({ agentType: 'puppet', config }).createSession({ prompt })
  expect((await collect(session.events)).map(({ type }) => type)).toEqual(DOCUMENTED)
})

const THINKING = [
  { type: 'thread.started', thread_id: 't-1' },
  { type: 'item.completed', item: { id: 'r', type: 'reasoning', text: 'hm' } },
  { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
]
const WITHOUT_TEXT = ['sessionStarted', 'turnStarted', 'turnCompleted', 'sessionEnded']

test('the option of the client holds for any transport and adapter', async () => {
  const client = new AgentClient({
    agentType: 'codex',
    config: { extensions: false },
    adapter: new CodexAdapter(),
    transport: new MockTransport(THINKING.map((line) => JSON.stringify(line))),
  })
  const all = await collect((await client.createSession({ prompt: 'go' })).read())
  expect(all.map(({ event }) => event.type)).toEqual(WITHOUT_TEXT)
  await using server = await startGateway()
  const transport = new SseTransport({ baseUrl: server.url, token: TOKEN })
  const config = { extensions: false }
  const session = await new AgentClient({ agentType: 'puppet', config, transport }).createSession({ prompt })
  expect((await collect(session.events)).map(({ type }) => type)).toEqual(DOCUMENTED)
})

test('an adapter has the option', async () => {
  const events = await collect(new CodexAdapter({ extensions: false }).adaptEvents(THINKING))
  expect(events.map(({ type }) => type)).toEqual(WITHOUT_TEXT)
})

test('other dialects have no extensions to turn off', async () => {
  await using server = await startGateway()
  for (const path of ['/api/sessions/ID/events?', '/v1/sessions/ID/events?dialect=ues&']) {
    const session = await new AgentClient({
      agentType: 'puppet',
      config: { baseUrl: server.url, token: TOKEN },
    }).createSession({ prompt })
    const response = await fetch(`${server.url}${path.replace('ID', session.id)}extensions=0`, {
      headers: { authorization: `Bearer ${TOKEN}`, accept: 'application/json' },
    })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('only applies to the unified dialect')
  }
})
