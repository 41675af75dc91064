import { expect, test } from 'vitest'
import type { Entry, EventType } from '../../src/model/index.ts'
import type { Store, TypeQuery } from '../../src/stores/store.ts'
import { sessionId } from './sqlite-parts.ts'

const [SESSION, OTHER] = [sessionId(1), sessionId(2)]

const BY_RESIDUE: readonly ((seq: number) => Entry['event'])[] = [
  (seq) => ({ type: 'text.completed', messageId: `m${seq}`, text: `text ${seq}` }),
  (seq) => ({ type: 'turn.queued', turn: seq, position: 1, prompt: '"event":{"type":"session.ended"' }),
  () => ({ type: 'text.delta', messageId: 'm', text: 'x' }),
  () => ({ type: 'text.delta', messageId: 'm', text: '"event":{"type":"turn.queued"' }),
  () => ({ type: 'output.written', stream: 'stdout', line: 'line' }),
  (seq) => ({
    type: 'tool.started',
    toolId: `t${seq}`,
    name: 'x',
    kind: 'other',
    input: { event: { type: 'turn.queued' } },
  }),
]

function entryAt(session: string, seq: number): Entry {
  const event = BY_RESIDUE[seq % 20]?.(seq) ?? { type: 'thinking.delta', messageId: 'm', text: 'y' }
  return { seq, session, at: seq, event }
}

/** Reads as readers do: by types, and where that finds nothing, one entry after the other. */
async function found(store: Store, query: Omit<TypeQuery, 'limit' | 'maxBytes'>, bounds: Bounds) {
  const entries: Entry[] = []
  let loaded = 0
  for (let after = query.after; after < query.last; ) {
    const some = await store.readTypes(SESSION, { ...query, ...bounds, after })
    expect(some.end).toBeGreaterThanOrEqual(after)
    expect(some.end).toBeLessThanOrEqual(query.last)
    expect(some.entries.length).toBeLessThanOrEqual(bounds.limit)
    entries.push(...some.entries)
    if (some.end === after) {
      const [next] = await store.read(SESSION, after, 1)
      if (next && query.types.has(next.event.type)) entries.push(next)
      loaded++
    }
    after = Math.max(some.end, after + (some.end === after ? 1 : 0))
  }
  return { entries, loaded }
}

interface Bounds {
  limit: number
  maxBytes: number
}

/** `isIndexed`: the store finds entries by an index. */
export function typesContract(open: () => Promise<Store>, isIndexed: boolean): void {
  const all = Array.from({ length: 260 }, (_, index) => entryAt(SESSION, index + 1))

  test.each([
    ['one commit', 260],
    ['commits of one entry', 1],
    ['commits of seven entries', 7],
  ])('finds entries by their types in %s', async (_how, batch) => {
    await using store = await open()
    for (let from = 0; from < all.length; from += batch) {
      const entries = all.slice(from, from + batch)
      const others = entries.map(({ seq }) => entryAt(OTHER, seq))
      await Promise.all([store.append(SESSION, { entries }), store.append(OTHER, { entries: others })])
    }
    const kinds: EventType[][] = [
      ['turn.queued'],
      ['turn.queued', 'text.completed'],
      ['session.ended'],
      ['text.delta'],
    ]
    for (const kind of kinds) {
      const types = new Set(kind)
      for (const [after, last] of [
        [0, 260],
        [41, 43],
        [100, 199],
      ] as const) {
        const expected = all.filter(({ seq, event }) => seq > after && seq <= last && types.has(event.type))
        for (const bounds of [
          { limit: 512, maxBytes: 1e6 },
          { limit: 2, maxBytes: 1e6 },
          { limit: 512, maxBytes: 600 },
        ]) {
          const { entries, loaded } = await found(store, { types, after, last }, bounds)
          expect(entries).toEqual(expected)
          if (isIndexed && !types.has('text.delta') && bounds.maxBytes > 600) expect(loaded).toBe(0)
        }
      }
    }
  })

  test('refuses a cursor before the first entry that is kept', async () => {
    await using store = await open()
    for (let seq = 1; seq <= 30; seq++) await store.append(SESSION, { entries: [entryAt(SESSION, seq)] })
    await store.trim(SESSION, { seq: 25 })
    const query = { types: new Set<EventType>(['turn.queued']), last: 30, limit: 9, maxBytes: 1e6 }
    if (isIndexed)
      await expect(store.readTypes(SESSION, { ...query, after: 3 })).rejects.toMatchObject({
        code: 'cursor_gone',
      })
    expect((await store.readTypes(SESSION, { ...query, after: 24 })).entries).toEqual([])
  })
}
