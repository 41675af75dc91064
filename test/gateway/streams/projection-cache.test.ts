import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Dialect } from '../../../src/dialects/dialect.ts'
import { dialects } from '../../../src/dialects/index.ts'
import { MessageOffsets } from '../../../src/gateway/streams/message-offsets.ts'
import { copyOf, ProjectionCache } from '../../../src/gateway/streams/projection-cache.ts'
import type { Entry } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { plays } from '../../dialects/plays.ts'
import { runs } from '../../long.ts'
import { call } from '../api.ts'
import { script, success, text } from '../puppet.ts'
import { create, exchange, hello, result, startRpc } from '../rpc/rpc.ts'
import type { TestGateway } from '../start.ts'
import { play } from '../talker.ts'

const all = [...dialects.values()]
const one = fc.constantFrom(...all)

/** Everything that a dialect says to these entries, from their beginning. */
function wholeFold(dialect: Dialect, entries: readonly Entry[]): readonly unknown[] {
  const state = dialect.initial({})
  return entries.flatMap((entry) => dialect.project(state, entry))
}

/** A log in pieces, as sessions replay it. */
async function* pieces(entries: readonly Entry[], after: number, last: number) {
  for (let from = after; from < Math.min(last, entries.length); from += 512) {
    yield entries.slice(from, Math.min(from + 512, last))
  }
}

/** A store that counts the entries that are read from it. */
function counted() {
  const store = memoryStore()
  const read = store.read.bind(store)
  const reads = { entries: 0 }
  store.read = async (...args) => {
    const entries = await read(...args)
    reads.entries += entries.length
    return entries
  }
  const during = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    const before = reads.entries
    return [await work(), reads.entries - before]
  }
  return { store, during }
}

const plain = (dialect: Dialect) => ({ dialect, options: {} })

describe('the state of a dialect', () => {
  test.each(all)('can be copied at any entry of any log, in $id', (dialect) => {
    fc.assert(
      fc.property(fc.constantFrom(...plays), fc.nat(), ({ entries }, at) => {
        const cut = at % (entries.length + 1)
        const state = dialect.initial({})
        for (const entry of entries.slice(0, cut)) dialect.project(state, entry)
        const copy = structuredClone(state)
        const rest = entries.slice(cut)
        const said = rest.flatMap((entry) => dialect.project(state, entry))
        expect(rest.flatMap((entry) => dialect.project(copy, entry))).toEqual(said)
        expect(dialect.finished(copy)).toBe(dialect.finished(state))
      }),
      { numRuns: runs(20, 60) },
    )
  })
})

const logOf = (entries: readonly Entry[]) => ({
  head: async () => entries.length,
  replay: (_: string, after: number, last: number) => pieces(entries, after, last),
})

describe('messages by their numbers', () => {
  const record = { id: '00000000-0000-4000-8000-000000000000', head: 0 }

  test('are slices of the whole, independent of earlier requests and of the growth of the log', async () => {
    const asked = fc.record({
      dialect: one,
      grow: fc.nat(40),
      offset: fc.nat(60),
      limit: fc.integer({ min: 1, max: 25 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...plays),
        fc.array(asked, { minLength: 1, maxLength: 30 }),
        async ({ entries }, questions) => {
          const offsets = new MessageOffsets(logOf(entries))
          let head = 0
          for (const { dialect, grow, offset, limit } of questions) {
            head = Math.min(entries.length, head + grow)
            const whole = wholeFold(dialect, entries.slice(0, head))
            const here = { ...record, head }
            const found = await offsets.slice(here, plain(dialect), { offset, limit })
            expect(found.map(({ message }) => message)).toEqual(whole.slice(offset, offset + limit))
            expect(await offsets.total(here, plain(dialect))).toBe(whole.length)
          }
        },
      ),
      { numRuns: runs(50, 150) },
    )
  })

  test('of a log that lost its beginning are refused, also where they were known', async () => {
    const [{ entries } = { entries: [] }] = plays
    const offsets = new MessageOffsets(logOf(entries))
    const [dialect] = all
    if (!dialect) throw new Error('there are dialects')
    const here = { ...record, head: entries.length }
    await offsets.total(here, plain(dialect))
    const gone = { code: 'cursor_gone', details: { earliest: 3 } }
    await expect(offsets.total({ ...here, earliest: 3 }, plain(dialect))).rejects.toMatchObject(gone)
    await expect(
      offsets.slice({ ...here, earliest: 3 }, plain(dialect), { offset: 0, limit: 1 }),
    ).rejects.toMatchObject(gone)
  })

  test('in pages of any size read a log a few times at most', async () => {
    const entries = Array.from({ length: 12_000 }, (_, index): Entry => {
      const event = { type: 'text.completed', messageId: `m${index}`, text: `${index}` } as const
      return { seq: index + 1, session: record.id, turn: 1, at: index, event }
    })
    const dialect = dialects.get('board')
    if (!dialect) throw new Error('there is the board')
    const here = { ...record, head: entries.length }
    for (const limit of [600, 1_000, 4_000]) {
      let read = 0
      const offsets = new MessageOffsets({
        ...logOf(entries),
        async *replay(_, after, last) {
          for await (const some of pieces(entries, after, last)) {
            read += some.length
            yield some
          }
        },
      })
      for (let offset = 0; offset < entries.length; offset += limit) {
        expect(await offsets.slice(here, plain(dialect), { offset, limit })).toHaveLength(limit)
        expect(await offsets.total(here, plain(dialect))).toBe(entries.length)
      }
      // The last page again, and nothing before it.
      const before = read
      await offsets.slice(here, plain(dialect), { offset: entries.length - 10, limit: 100 })
      expect(read - before).toBeLessThan(entries.length / 2)
      expect({ limit, few: read < 4 * entries.length }).toEqual({ limit, few: true })
    }
  })

  test('of a log that is gone meanwhile are not waited for', async () => {
    const offsets = new MessageOffsets({ ...logOf([]), replay: () => pieces([], 0, 5) })
    for (const dialect of all) {
      const gone = offsets.slice({ ...record, head: 5 }, plain(dialect), { offset: 0, limit: 1 })
      await expect(gone).rejects.toMatchObject({ code: 'session_not_found' })
    }
  })
})

test('a position that cannot be copied is not cached', () => {
  const cache = new ProjectionCache()
  const deep: unknown = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000))
  expect(copyOf({ seq: 1, state: deep })).toBeUndefined()
  cache.keep('a', { seq: 1, state: [] })
  cache.keep('a', { seq: 2, state: deep })
  expect(cache.find('a', () => true)).toBeUndefined()
  expect(cache.find('a', ({ seq }) => seq < 2)).toEqual({ seq: 1, state: [] })
})

test('a few recently used positions of a few logs are cached', () => {
  const cache = new ProjectionCache()
  const seqs = (key: string) =>
    [0, 1, 2, 3, 4, 5].filter((seq) => cache.find(key, (place) => place.seq === seq))
  for (const seq of [0, 1, 2, 3, 4, 5]) cache.keep('a', { seq, state: { seq } })
  expect(seqs('a')).toEqual([2, 3, 4, 5])
  expect(cache.find('a', ({ seq }) => seq < 5)).toEqual({ seq: 4, state: { seq: 4 } })
  for (let log = 0; log < 99; log++) cache.keep(`other ${log}`, { seq: 1, state: {} })
  expect(seqs('a')).toEqual([2, 3, 4, 5])
  for (let log = 0; log < 100; log++) cache.keep(`another ${log}`, { seq: 1, state: {} })
  expect(seqs('a')).toEqual([])
})

test('states are cached up to a number of bytes, and large ones are not', () => {
  const cache = new ProjectionCache()
  const state = (bytes: number) => ({ seq: 1, state: { text: 'x'.repeat(bytes) } })
  cache.keep('large', state(5_000_000))
  for (let log = 0; log < 20; log++) cache.keep(`log ${log}`, state(3_000_000))
  expect(cache.find('large', () => true)).toBeUndefined()
  const kept = Array.from({ length: 20 }, (_, log) => cache.find(`log ${log}`, () => true) !== undefined)
  expect(kept).toEqual([...Array(9).fill(false), ...Array(11).fill(true)])
})

describe('of a long log', () => {
  const TEXTS = 3_000

  async function long(server: TestGateway): Promise<string> {
    const prompt = script({ flood: { texts: TEXTS, size: 10 } }, success)
    const { body } = await call(server, 'POST /api/sessions', { body: { agentId: 'able', prompt } })
    const id = String(body.id)
    await server.sessions.get(id)?.settled(1)
    return id
  }

  test.each(['/api/sessions/ID/events?offset=', '/v1/sessions/ID/events?dialect=unified&limit=100&after='])(
    'a client that polls at the end reads only new entries: GET %s',
    async (path) => {
      const { store, during } = counted()
      await using server = await startRpc({ store })
      const id = await long(server)
      const route = `GET ${path.replace('ID', id)}`
      const head = await server.sessions.head(id)
      const end = path.startsWith('/api') ? TEXTS : head
      const [, first] = await during(() => call(server, route + end))
      expect(first).toBeGreaterThanOrEqual(head)
      for (let turn = 2; turn < 6; turn++) {
        expect((await during(() => call(server, route + end)))[1]).toBeLessThan(60)
        const body = { agentType: 'able', sessionId: id, prompt: script(text('m', 'more'), success) }
        await call(server, 'POST /api/sessions', { body })
        await server.sessions.get(id)?.settled(turn)
      }
    },
  )

  test.each([
    ['/api/sessions/ID/events?limit=100&offset=', 'offset'],
    ['/v1/sessions/ID/events?dialect=board&limit=100&after=', 'after'],
  ])('all pages together read it a few times at most: GET %s', async (path, kind) => {
    const { store, during } = counted()
    await using server = await startRpc({ store })
    const id = await long(server)
    const route = `GET ${path.replace('ID', id)}`
    const [messages, read] = await during(async () => {
      const messages: unknown[] = []
      for (let next = '0'; ; ) {
        const { body } = await call(server, route + next)
        const page = (body.events ?? body.messages) as unknown[]
        messages.push(...page)
        if (page.length === 0) return messages
        next = kind === 'offset' ? `${messages.length}` : String(body.next)
      }
    })
    expect(messages).toHaveLength(TEXTS)
    // Thirty pages; each anew would be more than thirty times as much.
    expect(read).toBeLessThan(10 * (await server.sessions.head(id)))
  })

  test('an exchange, and asking for what was missed, read what is new', async () => {
    const { store, during } = counted()
    await using server = await startRpc({ store })
    const id = await create(server)
    const many = Array.from({ length: TEXTS }, (_, index) => text(`m${index}`, `${index}`))
    await exchange(server, id, play([hello(), ...many, success]))
    for (let round = 0; round < 3; round++) {
      const few = play([text('one', 'one'), success])
      expect((await during(() => exchange(server, id, few)))[1]).toBeLessThan(400)
      const [missed, read] = await during(() => result(server, 'session.reconnect', { sessionId: id }))
      expect(missed.bufferedEvents).toEqual([])
      expect(read).toBeLessThan(60)
      const after = { sessionId: id, after: missed.cursor }
      expect((await during(() => result(server, 'session.reconnect', after)))[1]).toBeLessThan(60)
      expect((await during(() => result(server, 'session.queue_stats', { sessionId: id })))[1]).toBeLessThan(
        60,
      )
    }
  })
})
