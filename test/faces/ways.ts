import { expect } from 'vitest'
import { HttpTransport, SseTransport, type Transport, WebSocketTransport } from '../../src/client/index.ts'
import type { Fixture } from '../agents/fixtures.ts'
import { collect, quick } from '../client/scene.ts'
import { call, fetchFrom, NDJSON, streamed } from '../gateway/api.ts'
import { type TestGateway, TOKEN } from '../gateway/start.ts'
import { wholeSocket } from '../gateway/streams/socket.ts'
import { parseEvents } from '../gateway/streams/sse.ts'
import { taskOf } from './recorded.ts'

export interface Wanted {
  server: TestGateway
  id: string
  dialect: string
  fixture: Fixture
}

/** Reads all messages of a session that is over. */
type Way = (wanted: Wanted) => Promise<unknown[]>

/** Few, so that a log has many pages. */
const PAGE = 40

const eventsOf = ({ id, dialect }: Wanted) => `/v1/sessions/${id}/events?dialect=${dialect}`

async function byPages(wanted: Wanted): Promise<unknown[]> {
  const messages: unknown[] = []
  for (let next = '0'; ; ) {
    const { body } = await call(wanted.server, `GET ${eventsOf(wanted)}&after=${next}&limit=${PAGE}`)
    const page = (body.entries ?? body.messages) as unknown[]
    messages.push(...page)
    next = String(body.next)
    if (page.length === 0) return messages
  }
}

async function byBoardPages({ server, id, dialect }: Wanted): Promise<unknown[]> {
  const messages: unknown[] = []
  for (;;) {
    const query = `dialect=${dialect}&offset=${messages.length}&limit=${PAGE}`
    const { body } = await call(server, `GET /api/sessions/${id}/events?${query}`)
    messages.push(...(body.events as unknown[]))
    if (messages.length === body.total) return messages
  }
}

async function byExecute({ server, id, dialect, fixture }: Wanted): Promise<unknown[]> {
  const response = await server.execute(taskOf(fixture), { path: `/v1/execute?dialect=${dialect}` })
  expect(response.headers.get('idempotent-replayed')).toBe('true')
  expect(response.headers.get('mainstem-session')).toBe(id)
  return parseEvents(await response.text()).map(({ data }) => data)
}

const byTransport =
  (Kind: new (options: object) => Transport): Way =>
  async ({ server, id, dialect }) => {
    const transport = new Kind({ baseUrl: server.url, token: TOKEN, dialect, timers: quick })
    const batches = await collect(transport.connect(id, { count: 0 }, new AbortController().signal))
    const deliveries = batches.flat()
    expect(deliveries.map(({ cursor }) => cursor.count)).toEqual(deliveries.map((_, index) => index + 1))
    return deliveries.map(({ text }) => JSON.parse(text))
  }

/** Every way to the same messages. */
export const ways: Readonly<Record<string, Way>> = {
  'server-sent events': async (wanted) =>
    (await streamed(wanted.server, eventsOf(wanted))).map(({ data }) => data),
  lines: async (wanted) => {
    const response = await fetchFrom(wanted.server, `GET ${eventsOf(wanted)}`, { headers: NDJSON })
    const lines = (await response.text()).split('\n').filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line))
  },
  pages: byPages,
  'a WebSocket': async (wanted) => (await wholeSocket(wanted.server, eventsOf(wanted))).messages,
  'the WebSocket of the board': async ({ server, id, dialect }) =>
    (await wholeSocket(server, `/ws/sessions/${id}?dialect=${dialect}`)).messages,
  'the pages of the board': byBoardPages,
  execute: byExecute,
  'the client over a WebSocket': byTransport(WebSocketTransport),
  'the client over server-sent events': byTransport(SseTransport),
  'the client by polling': byTransport(HttpTransport),
}
