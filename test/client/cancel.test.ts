import { expect, test } from 'vitest'
import {
  AgentClient,
  CancellableSession,
  CancelToken,
  FileChangeType,
  HttpTransport,
  SessionEndReason,
  type TokenUsage,
} from '../../src/client/index.ts'
import { script, success } from '../gateway/puppet.ts'
import { startGateway, TOKEN } from '../gateway/start.ts'
import { collect, quick } from './scene.ts'

test('a cancelled token stops every session that it belongs to', async () => {
  await using server = await startGateway()
  const transport = new HttpTransport({ baseUrl: server.url, token: TOKEN, timers: quick })
  const client = new AgentClient({ agentType: 'puppet', transport, timers: quick })
  const token = new CancelToken()
  const begin = async () => {
    const session = await client.createSession({ prompt: script({ ...success, wait: true }) })
    return new CancellableSession(session, token)
  }
  const sessions = [await begin(), await begin()]
  expect(token.isCancelled).toBe(false)
  await sessions[0]?.cancel()
  expect(token.isCancelled).toBe(true)
  for (const { session, cancelToken } of sessions) {
    expect(cancelToken).toBe(token)
    expect((await collect(session.events)).at(-1)).toMatchObject({ reason: SessionEndReason.cancelled })
  }
  const late = await begin()
  await late.cancel()
  expect(await late.session.state()).toBe('cancelled')
})

test('a session without a token has its own', async () => {
  await using server = await startGateway()
  const transport = new HttpTransport({ baseUrl: server.url, token: TOKEN, timers: quick })
  const client = new AgentClient({ agentType: 'puppet', transport, timers: quick })
  const session = new CancellableSession(
    await client.createSession({ prompt: script({ ...success, wait: true }) }),
  )
  await session.cancelToken.cancel()
  expect(await session.session.state()).toBe('cancelled')
})

test('the closed lists of the document are values too', () => {
  expect(Object.keys(FileChangeType)).toEqual(['created', 'modified', 'deleted'])
  expect(Object.keys(SessionEndReason)).toEqual(['completed', 'failed', 'cancelled', 'timeout'])
  const usage: TokenUsage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
  expect(usage.totalTokens).toBe(2)
})
