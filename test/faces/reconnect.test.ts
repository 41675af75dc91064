import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { dialects } from '../../src/dialects/index.ts'
import { mainstem } from '../../src/dialects/mainstem.ts'
import { projectAll } from '../dialects/entries.ts'
import { fetchFrom, NDJSON } from '../gateway/api.ts'
import { script, success, text } from '../gateway/puppet.ts'
import { startGateway, type TestGateway, task } from '../gateway/start.ts'
import { type Reader, visits } from './visits.ts'

vi.setConfig({ testTimeout: 120_000 })

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
const SEED = 20_261_116

const STORY = script(
  ...Array.from({ length: BEFORE }, (_, index) => text(`b${index}`, `before ${index}`)),
  ...Array.from({ length: LIVE }, (_, index) => ({ ...text(`l${index}`, `live ${index}`), wait: true })),
  success,
)

/** Begins a run that anybody may ask for again by its key, and knows its session. */
async function begin(dialect: string, key: string): Promise<Reader> {
  const all = await fetchFrom(server, 'GET /v1/events', { headers: NDJSON })
  await all.body?.cancel()
  const body = { ...task(), idempotency_key: key, driver: 'puppet', task: STORY }
  const leave = new AbortController()
  const response = await server.execute(body, { signal: leave.signal })
  leave.abort()
  const id = response.headers.get('mainstem-session') ?? ''
  return { server, id, dialect, key: JSON.stringify(body), cursor: all.headers.get('mainstem-cursor') ?? '' }
}

/** Reads a session that goes on meanwhile, in visits of so many messages. */
async function readInVisits(way: string, dialect: string, sizes: readonly number[], key: string) {
  const { visit } = visits[way] ?? {}
  if (!visit) throw new Error(`there is no way ${way}`)
  const { cursor, ...begun } = await begin(dialect, key)
  const reader: Reader = { ...begun, cursor: way === ALL ? cursor : undefined }
  const messages: unknown[] = []
  const read = async (least: number) => {
    const got = await visit(reader, least)
    messages.push(...got.map(({ message }) => message))
    reader.cursor = got.at(-1)?.cursor ?? reader.cursor
  }
  let said = BEFORE
  await server.gate.reached()
  for (const size of sizes) {
    if (said < BEFORE + LIVE && size % 2 === 1) {
      await server.gate.open()
      said++
    }
    // More was said than is waited for: a dialect has at least one message for each text.
    await read(Math.min(size, Math.max(0, said - messages.length)))
  }
  for (; said < BEFORE + LIVE; said++) await server.gate.open()
  await server.deps.runs.done()
  const log = await server.sessions.read(reader.id, 0, 100_000)
  const expected = JSON.parse(JSON.stringify(projectAll(dialects.get(dialect) ?? mainstem, log)))
  expect(expected.length).toBeGreaterThanOrEqual(BEFORE + LIVE)
  // What is left has an end everywhere but on the stream of all sessions.
  const left = expected.length - messages.length
  await read(way === ALL ? left : Number.POSITIVE_INFINITY)
  expect(messages.map(withoutCursor)).toEqual(expected)
}

const ALL = 'the events of all sessions'

/** An entry has its place among all others beside it there. */
function withoutCursor(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('cursor' in message)) return message
  const { cursor: _, ...entry } = message
  return entry
}

it.each(Object.keys(visits))(
  `a reader that comes back ${RECONNECTS} times gets each message once, by %s`,
  async (way) => {
    const sizes = fc.array(fc.nat(3), { minLength: RECONNECTS, maxLength: RECONNECTS })
    const spoken = visits[way]?.dialects ?? []
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...spoken), sizes, (dialect, sizes) =>
        readInVisits(way, dialect, sizes, `run ${++run}`),
      ),
      { numRuns: Math.min(3, spoken.length + 1), seed: SEED, endOnFailure: true },
    )
  },
)
