import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { call } from '../api.ts'
import { script, success, text } from '../puppet.ts'
import { startGateway, type TestGateway } from '../start.ts'
import { type Message, SocketReader, wholeSocket } from '../streams/socket.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

/** Emitted before anybody reads, and said one by one while somebody does. */
const [BEFORE, LIVE] = [60, 60]
const RECONNECTS = 200

const STORY = script(
  ...Array.from({ length: BEFORE }, (_, index) => text(`b${index}`, `before ${index}`)),
  ...Array.from({ length: LIVE }, (_, index) => ({ ...text(`l${index}`, `live ${index}`), wait: true })),
  success,
)

/** How a reader that has so many messages gets some more and goes away again. */
type Visit = (id: string, dialect: string, had: number, most: number) => Promise<readonly Message[]>

async function bySocket(id: string, dialect: string, had: number, most: number): Promise<readonly Message[]> {
  const reader = new SocketReader(server, `/ws/sessions/${id}?dialect=${dialect}&offset=${had}`)
  await reader.open()
  await reader.until(most)
  reader.socket.terminate()
  await reader.closed
  // What is on its way when a reader goes is not lost: it has been sent, or comes again.
  return reader.messages
}

async function byPage(id: string, dialect: string, had: number, most: number): Promise<readonly Message[]> {
  const query = `dialect=${dialect}&offset=${had}&limit=${Math.max(most, 1)}`
  const { body } = await call(server, `GET /api/sessions/${id}/events?${query}`)
  expect(body.total).toBeGreaterThanOrEqual(had)
  return body.events as Message[]
}

const rest: Record<string, (id: string, dialect: string, had: number) => Promise<readonly Message[]>> = {
  socket: async (id, dialect, had) =>
    (await wholeSocket(server, `/ws/sessions/${id}?dialect=${dialect}&offset=${had}`)).messages,
  page: (id, dialect, had) => byPage(id, dialect, had, 1000),
}
const visits: Record<string, Visit> = { socket: bySocket, page: byPage }

/** Reads a session that goes on meanwhile, in visits of so many messages. */
async function readInVisits(transport: string, dialect: string, sizes: readonly number[]): Promise<void> {
  const body = { agentId: 'puppet', prompt: STORY }
  const id = String((await call(server, 'POST /api/sessions', { body })).body.id)
  const messages: Message[] = []
  let said = BEFORE
  await server.gate.reached()
  for (const size of sizes) {
    if (said < BEFORE + LIVE && size % 2 === 1) {
      await server.gate.open()
      said++
    }
    // More was said than is waited for: a dialect has at least one message for each text.
    const most = Math.min(size, Math.max(0, said - messages.length))
    messages.push(...((await visits[transport]?.(id, dialect, messages.length, most)) ?? []))
  }
  for (; said < BEFORE + LIVE; said++) await server.gate.open()
  await server.sessions.get(id)?.settled(1)
  messages.push(...((await rest[transport]?.(id, dialect, messages.length)) ?? []))
  const { events, total } = (
    await call(server, `GET /api/sessions/${id}/events?dialect=${dialect}&limit=1000`)
  ).body
  expect(messages).toEqual(events)
  expect(total).toBeGreaterThanOrEqual(BEFORE + LIVE)
}

test.each(['socket', 'page'])(
  'a client that reconnects two hundred times gets each message once, by %s',
  async (transport) => {
    const sizes = fc.array(fc.nat(3), { minLength: RECONNECTS, maxLength: RECONNECTS })
    const dialect = fc.constantFrom('board', 'unified', 'mainstem')
    await fc.assert(
      fc.asyncProperty(dialect, sizes, (dialect, sizes) => readInVisits(transport, dialect, sizes)),
      { numRuns: 3, seed: 20_261_116, endOnFailure: true },
    )
  },
)
