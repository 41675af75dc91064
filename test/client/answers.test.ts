import { expect, test } from 'vitest'
import type { Emitted } from '../../src/agents/agent.ts'
import {
  AgentClient,
  FallbackTransport,
  HttpTransport,
  MockTransport,
  type RequestOpenedEvent,
  SseTransport,
  type Transport,
  WebSocketTransport,
} from '../../src/client/index.ts'
import { script, success } from '../gateway/puppet.ts'
import { startGateway, TOKEN } from '../gateway/start.ts'
import { chunks, collect, lines, quick } from './scene.ts'

const request: Emitted = {
  type: 'request.opened',
  requestId: 'e1/r 1',
  kind: 'permission',
  blocking: true,
  tool: 'Bash',
  input: { command: 'rm -r build' },
  options: [],
}
const prompt = script({ say: request }, { ...success, wait: true })

test.each<[string, (options: { baseUrl: string; token: string }) => Transport]>([
  ['a socket', (options) => new WebSocketTransport(options)],
  ['server-sent events', (options) => new SseTransport(options)],
  ['polling', (options) => new FallbackTransport(new HttpTransport({ ...options, timers: quick }))],
])('a client over %s sees what the agent asks, and answers it', async (_name, transportTo) => {
  await using server = await startGateway()
  const transport = transportTo({ baseUrl: server.url, token: TOKEN })
  const client = new AgentClient({ agentType: 'puppet', transport, timers: quick })
  const session = await client.createSession({ prompt })
  const seen: unknown[] = []
  for await (const event of session.events) {
    if (event.type === 'requestOpened') {
      seen.push(event.arguments)
      await session.answer(event, { decision: 'allow' })
      await expect(client.answer(event, { decision: 'deny' })).rejects.toMatchObject({
        message: 'the request was already answered',
      })
      await server.gate.open()
    }
    if (event.type === 'requestClosed') seen.push(event.decision)
  }
  expect(seen).toEqual([{ command: 'rm -r build' }, 'allow'])
})

test('the transport for tests keeps the answers', async () => {
  const opened: RequestOpenedEvent = {
    id: 'evt_1',
    sessionId: '11111111-1111-4111-8111-111111111111',
    timestamp: '2026-01-01T00:00:00.000Z',
    type: 'requestOpened',
    requestId: 'r1',
    kind: 'permission',
    blocking: true,
    arguments: {},
    options: [],
    inputDigest: 'd',
    answer: { method: 'POST', path: '/' },
  }
  const transport = new MockTransport(lines([opened, ...chunks(1)]))
  const session = await new AgentClient({ agentType: 'codex', transport }).createSession({ prompt: 'x' })
  const [first] = await collect(session.events)
  if (first?.type === 'requestOpened') await session.answer(first, { decision: 'deny', message: 'no' })
  expect(transport.answers).toEqual(new Map([['r1', { decision: 'deny', message: 'no', inputDigest: 'd' }]]))
})
