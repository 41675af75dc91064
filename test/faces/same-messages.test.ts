import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { agents } from '../../src/agents/index.ts'
import { AgentClient, MainstemClient, SseTransport } from '../../src/client/index.ts'
import { daemon } from '../../src/dialects/daemon.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import { dialects } from '../../src/dialects/index.ts'
import { mainstem } from '../../src/dialects/mainstem.ts'
import { unified } from '../../src/dialects/unified.ts'
import type { Entry } from '../../src/model/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Fixture } from '../agents/fixtures.ts'
import { collect, quick, StdioScene } from '../client/scene.ts'
import { projectAll } from '../dialects/entries.ts'
import { call } from '../gateway/api.ts'
import { result } from '../gateway/rpc/rpc.ts'
import { startGateway, type TestGateway, TOKEN } from '../gateway/start.ts'
import { keep, RecordedDriver, recordings, taskOf } from './recorded.ts'
import { ways } from './ways.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let server: TestGateway
const ids = new Map<Fixture, string>()

beforeAll(async () => {
  const store = memoryStore()
  const driver = new RecordedDriver()
  server = await startGateway({ store, driver, more: agents })
  for (const fixture of recordings) {
    driver.load(fixture)
    ids.set(fixture, fixture.launch === 'oneshot' ? await run(fixture) : await keep(store, fixture))
  }
  for (const id of ids.values()) {
    expect(await call(server, `POST /v1/sessions/${id}/end`)).toMatchObject({ body: { status: 'ended' } })
  }
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

/** A one-shot recording is what a program says to a session of ours. */
async function run(fixture: Fixture): Promise<string> {
  const response = await server.execute(taskOf(fixture))
  expect(response.status).toBe(200)
  await response.text()
  return String(response.headers.get('mainstem-session'))
}

const idOf = (fixture: Fixture) => ids.get(fixture) ?? ''

async function logOf(fixture: Fixture): Promise<readonly Entry[]> {
  const entries = await server.sessions.read(idOf(fixture), 0, 100_000)
  expect(entries.at(-1)?.event.type).toBe('session.ended')
  expect(entries.length).toBeGreaterThan(4)
  return entries
}

/** What a dialect says about a log, as JSON has it. */
function said(dialect: Dialect, entries: readonly Entry[]): unknown[] {
  return JSON.parse(JSON.stringify(projectAll(dialect, entries)))
}

describe.each([...dialects.values()])('of every recording, $id says the same', (dialect) => {
  it.each(Object.entries(ways))('by %s', async (_name, read) => {
    for (const fixture of recordings) {
      const expected = said(dialect, await logOf(fixture))
      const messages = await read({ server, id: idOf(fixture), dialect: dialect.id, fixture })
      expect(messages, fixture.name).toEqual(expected)
    }
  })
})

describe('of every recording the same is said', () => {
  it('by a client of the unified protocol', async () => {
    const transport = new SseTransport({ baseUrl: server.url, token: TOKEN })
    const client = new AgentClient({ agentType: 'any', transport, timers: quick })
    for (const fixture of recordings) {
      const events = await collect(client.session(idOf(fixture)).events)
      expect(events, fixture.name).toEqual(said(unified, await logOf(fixture)))
    }
  })

  it('by a client over standard input and output', async () => {
    await using scene = new StdioScene(server)
    const client = new AgentClient({ agentType: 'any', transport: scene.transport, timers: quick })
    for (const fixture of recordings) {
      const events = await collect(client.session(idOf(fixture)).events)
      expect(events, fixture.name).toEqual(said(unified, await logOf(fixture)))
    }
  })

  it('by a client of our own API', async () => {
    const client = new MainstemClient({ baseUrl: server.url, token: TOKEN, timers: quick })
    for (const fixture of recordings) {
      const entries = await collect(client.entries(idOf(fixture)))
      expect(entries, fixture.name).toEqual(said(mainstem, await logOf(fixture)))
    }
  })

  it('by a daemon whose client has missed it all', async () => {
    for (const fixture of recordings) {
      const expected = said(daemon, await logOf(fixture))
      // That a message waits is told to its sender alone.
      const told = expected.filter((message) => !isQueued(message))
      for (const after of [undefined, 0, '0']) {
        const params = { sessionId: idOf(fixture), ...(after !== undefined && { after }) }
        const { bufferedEvents } = await result(server, 'session.reconnect', params)
        expect(bufferedEvents, fixture.name).toEqual(told)
      }
    }
  })
})

function isQueued(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'queued'
}
