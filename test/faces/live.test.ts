import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { dialects } from '../../src/dialects/index.ts'
import { mainstem } from '../../src/dialects/mainstem.ts'
import type { Fixture } from '../agents/fixtures.ts'
import { projectAll } from '../dialects/entries.ts'
import { fetchFrom, NDJSON, SSE } from '../gateway/api.ts'
import { create, open, result, startRpc } from '../gateway/rpc/rpc.ts'
import type { TestGateway } from '../gateway/start.ts'
import { SocketReader } from '../gateway/streams/socket.ts'
import { parseEvents, StreamReader } from '../gateway/streams/sse.ts'
import { oneshotAgents, RecordedDriver, recordings } from './recorded.ts'

vi.setConfig({ testTimeout: 120_000 })

const driver = new RecordedDriver()
const played = recordings.filter(({ launch }) => launch === 'oneshot')

let server: TestGateway
beforeAll(async () => {
  server = await startRpc({ driver, more: oneshotAgents })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const lines = (text: string) => text.split('\n').filter((line) => line !== '')

/** Readers of a session that has just begun; each gives all that it was told by the end. */
async function attend(id: string, dialect: string): Promise<(() => Promise<unknown[]>)[]> {
  const path = `/v1/sessions/${id}/events?dialect=${dialect}`
  const [stream, ndjson] = await Promise.all(
    [SSE, NDJSON].map(
      async (headers) => new StreamReader(await fetchFrom(server, `GET ${path}`, { headers })),
    ),
  )
  const socket = await new SocketReader(server, path).open()
  return [
    async () => parseEvents((await stream?.whole()) ?? '').map(({ data }) => data),
    async () => lines((await ndjson?.whole()) ?? '').map((line) => JSON.parse(line)),
    () => wholeOf(socket),
  ]
}

async function wholeOf({ closed, messages }: SocketReader): Promise<unknown[]> {
  await closed
  return messages
}

/** Plays a recording to readers on every stream at once. */
async function play(fixture: Fixture, dialect: string) {
  driver.load(fixture)
  const id = await create(server, { cli_type: fixture.agent })
  const head = await server.sessions.head(id)
  const readers = await attend(id, dialect)
  const board = await new SocketReader(server, `/ws/sessions/${id}?dialect=${dialect}`).open()
  const exchange = await open(server, id, 'go', { path: `/rpc?ids=1&dialect=${dialect}` })
  const sent = (await exchange.whole()).replace('data: [DONE]\n\n', '')
  // It is closed when nothing runs any more; the others when the session is ended.
  const onBoard = await wholeOf(board)
  await result(server, 'session.destroy', { sessionId: id })
  const told = await Promise.all(readers.map((reader) => reader()))
  const log = await server.sessions.read(id, 0, 100_000)
  return { head, told, onBoard, sent: parseEvents(sent).map(({ data }) => data), log }
}

it.each([...dialects.values()])(
  'a session that is followed on every stream while it runs says the same on each, in $id',
  async (dialect) => {
    expect(played.length).toBeGreaterThan(6)
    for (const fixture of played) {
      const { head, told, onBoard, sent, log } = await play(fixture, dialect.id)
      const said = (entries: typeof log): unknown[] =>
        JSON.parse(JSON.stringify(projectAll(dialect, entries)))
      for (const messages of told) expect(messages, fixture.name).toEqual(said(log))
      const end = log.findIndex(({ event }) => event.type === 'turn.completed')
      const turn = said(log.slice(0, end + 1))
      expect(onBoard, fixture.name).toEqual(turn)
      // An exchange is what was said from its message to the end of its turn.
      expect(sent, fixture.name).toEqual(turn.slice(said(log.slice(0, head)).length))
      expect(log.at(-1)?.event.type).toBe('session.ended')
    }
  },
)

it('the events of all sessions arrive in the order of each log', async () => {
  const response = await fetchFrom(server, 'GET /v1/events', { headers: NDJSON })
  const [process, place] = response.headers.get('mainstem-cursor')?.split('-') ?? []
  const all = new StreamReader(response)
  const logs = []
  for (const fixture of played) logs.push((await play(fixture, mainstem.id)).log)
  const expected = logs.flat()
  await all.until(`"cursor":"${process}-${Number(place) + expected.length}"}\n`)
  const told = lines(all.text).map((line) => JSON.parse(line))
  expect(told.map(({ cursor: _, ...entry }) => entry)).toEqual(JSON.parse(JSON.stringify(expected)))
})
