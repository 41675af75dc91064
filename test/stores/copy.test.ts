import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { copyStore } from '../../src/stores/copy/copy-store.ts'
import type { CopyTarget } from '../../src/stores/copy/copyable.ts'
import { PARTS, UNORDERED } from '../../src/stores/copy/copyable.ts'
import type { Row } from '../../src/stores/row.ts'
import type { TableName } from '../../src/stores/tables.ts'
import { runs, someOf } from '../long.ts'
import { factOf } from './contract-access.ts'
import { PAIRS, PLACES, type Place } from './copy-places.ts'
import { contentsOf, Scene, steps } from './copy-scene.ts'
import { entries, entry, sessionId, state } from './sqlite-parts.ts'

async function copy(from: Place, to: Place, options = {}) {
  await using source = await from.source()
  await using target = await to.target()
  return await copyStore(source, target, options)
}

/** All rows of a store, as a copy sees them. */
async function dump(place: Place) {
  await using source = await place.source()
  const rows = async (part: (typeof PARTS)[number]) =>
    (await Array.fromAsync<readonly unknown[]>(source.read(part))).flat()
  const all = await Promise.all(PARTS.map(rows))
  for (const unordered of all.filter((_, index) => UNORDERED.has(PARTS[index] ?? 'log')))
    unordered.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  return all
}

/** A store with one of everything. */
async function filled(place: Place): Promise<Pick<Scene, 'keys' | 'blobs'>> {
  await using store = await place.open()
  const scene = new Scene(store)
  const take = (session: number, what: Parameters<Scene['play']>[0][number]['what'], size: number) => ({
    session,
    what,
    size,
  })
  await scene.play([
    take(0, 'append', 9),
    take(1, 'append', 6),
    take(0, 'append', 7),
    take(0, 'trim', 8),
    take(0, 'blob', 9),
    take(1, 'queue', 8),
    take(1, 'queue', 1),
    take(2, 'append', 3),
    take(2, 'delete', 0),
    take(3, 'append', 3),
    take(3, 'acquire', 0),
    take(3, 'append', 4),
    take(3, 'blob', 0),
  ])
  const { access } = store
  const token = { type: 'token.added', name: 'ci', digest: 'd', roles: ['operator'] } as const
  await access.change(token, factOf('token.added'))
  await access.change({ type: 'token.removed', name: 'ci' }, factOf('token.removed'))
  await access.change({ type: 'grant.added', to: 'ci', of: 'local' }, factOf('grant.added'))
  return scene
}

describe.each(PAIRS)('a copy from %s to %s', (from, to) => {
  test('has everything, and copied back it is the same', { timeout: 300_000 }, async () => {
    const property = fc.asyncProperty(steps, async (all) => {
      const [a, b, c] = await Promise.all([PLACES[from](), PLACES[to](), PLACES[from]()])
      let scene: Scene
      let before: Awaited<ReturnType<typeof contentsOf>>
      {
        await using store = await a.open()
        scene = new Scene(store)
        await scene.play(all)
        before = await contentsOf(store, scene)
      }
      await copy(a, b)
      await copy(b, c)
      const original = await dump(a)
      expect(await dump(b)).toEqual(original)
      expect(await dump(c)).toEqual(original)
      await using copied = await b.open()
      expect(await contentsOf(copied, scene)).toEqual(before)
    })
    await fc.assert(property, { numRuns: runs(1, 3) })
  })

  test('continues wherever it was interrupted, and adds nothing twice', async () => {
    const [a, b] = await Promise.all([PLACES[from](), PLACES[to]()])
    const scene = await filled(a)
    const step = runs(8, 1)
    const [first = 0] = someOf([...Array(step).keys()], 1)
    for (let writes = first; ; writes += step) {
      try {
        await using source = await a.source()
        await using target = await b.target()
        await copyStore(source, failingAfter(writes, target))
        break
      } catch (thrown) {
        expect(String(thrown)).toContain('interrupted')
        // Until it is finished, no server opens it.
        await expect(b.open()).rejects.toThrow(/is an unfinished copy of/)
      }
      expect(writes).toBeLessThan(60)
    }
    expect(await dump(b)).toEqual(await dump(a))
    await using original = await a.open()
    await using copied = await b.open()
    expect(await contentsOf(copied, scene)).toEqual(await contentsOf(original, scene))
  })

  test('that is complete is compared again, and one that was used since is refused', async () => {
    const [a, b] = await Promise.all([PLACES[from](), PLACES[to]()])
    await filled(a)
    expect(await copy(a, b)).toMatchObject({ outcome: 'copied', sessions: 3, blobs: 2 })
    expect(await copy(a, b)).toMatchObject({ outcome: 'unchanged', sessions: 3 })
    {
      await using store = await b.open()
      await store.create(sessionId(7), { entries: entries(sessionId(7), 1, 1), record: state(sessionId(7)) })
    }
    const used = await dump(b)
    await expect(copy(a, b)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('already holds other sessions'),
    })
    await expect(copy(a, b, { restart: true })).rejects.toMatchObject({ code: 'conflict' })
    expect(await dump(b)).toEqual(used)
  })

  test('into a store with other sessions is refused, and changes nothing', async () => {
    const [a, b] = await Promise.all([PLACES[from](), PLACES[to]()])
    await filled(a)
    await filled(b)
    const before = await dump(b)
    await expect(copy(a, b)).rejects.toThrow('already holds other sessions')
    expect(await dump(b)).toEqual(before)
    await using store = await b.open()
    await store.probe()
  })

  test('of a source that changed meanwhile is found, and copied anew on request', async () => {
    const [a, b] = await Promise.all([PLACES[from](), PLACES[to]()])
    const scene = await filled(a)
    {
      await using source = await a.source()
      await using target = await b.target()
      await expect(copyStore(source, failingAfter(4, target))).rejects.toThrow('interrupted')
    }
    {
      await using store = await a.open()
      await store.append(sessionId(1), { entries: [entry(sessionId(1), 8)] })
    }
    await expect(copy(a, b)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('source changed after the copy began'),
    })
    await expect(b.open()).rejects.toThrow(/is an unfinished copy of/)
    expect(await copy(a, b, { restart: true })).toMatchObject({ outcome: 'copied' })
    expect(await dump(b)).toEqual(await dump(a))
    await using store = await b.open()
    expect((await contentsOf(store, scene)).records).toHaveLength(3)
  })

  test('reports its progress, by sessions, entries and bytes', async () => {
    const [a, b] = await Promise.all([PLACES[from](), PLACES[to]()])
    await filled(a)
    const seen: { phase: string; entries: number; bytes: number; totals: { entries: number } }[] = []
    const summary = await copy(a, b, { progress: (one: (typeof seen)[number]) => seen.push(one) })
    const last = seen.at(-1)
    expect(last).toMatchObject({ phase: 'verify', entries: summary.entries, bytes: summary.bytes })
    expect(last?.totals.entries).toBe(summary.entries)
    expect(seen.filter(({ phase }) => phase === 'copy').at(-1)?.bytes).toBe(summary.bytes)
  })
})

test('two copies to one database do not run at the same time', async () => {
  const [a, b] = await Promise.all([PLACES.sqlite(), PLACES.postgres()])
  await filled(a)
  await using _ = await b.target()
  await expect(b.target()).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/^another copy to /),
  })
})

/** Writes each row by itself, and fails after so many writes, as a process that is killed between them. */
function failingAfter(writes: number, target: CopyTarget): CopyTarget {
  let left = writes
  const counted = <T extends unknown[]>(write: (...args: T) => Promise<void>) => {
    return async (...args: T) => {
      if (left-- === 0) throw new Error('interrupted')
      await write(...args)
    }
  }
  const add = counted((table: TableName, row: Row) => target.add(table, [row]))
  return {
    name: target.name,
    read: (table, after) => target.read(table, after),
    last: (table) => target.last(table),
    add: async (table, rows) => {
      for (const row of rows) await add(table, row)
    },
    totals: () => target.totals(),
    readBlob: (id) => target.readBlob(id),
    openTime: () => target.openTime(),
    checkIdle: () => target.checkIdle(),
    state: () => target.state(),
    begin: (source) => target.begin(source),
    writeBlob: (id, content) => target.writeBlob(id, content),
    complete: counted((ms: number) => target.complete(ms)),
    clear: () => target.clear(),
    finish: counted((source: string) => target.finish(source)),
    [Symbol.asyncDispose]: async () => undefined,
  }
}
