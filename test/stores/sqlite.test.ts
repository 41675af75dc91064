import { rmSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { type Entry, SCHEMA_VERSION } from '../../src/model/index.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { UPCASTS } from '../../src/stores/upcast.ts'
import { runs } from '../long.ts'
import { SAMPLES } from '../model/samples.ts'
import { blobBytes } from './blob-bytes.ts'
import { storeContract } from './contract.ts'
import { database, entries, entry, frames, newDirectory, readAll, sessionId, state } from './sqlite-parts.ts'

const used: string[] = []
const directory = () => {
  const path = newDirectory()
  used.push(path)
  return path
}
afterAll(() => {
  for (const path of used) rmSync(path, { recursive: true })
})

storeContract({
  name: 'sqlite',
  open: (monotonic) => sqliteStore({ directory: directory(), ...(monotonic && { monotonic }) }),
})

const ID = sessionId(1)

test('readers at the same cursor share one list', async () => {
  await using store = await sqliteStore({ directory: directory() })
  await store.append(ID, { entries: entries(ID, 1, 2) })
  await store.append(ID, { entries: entries(ID, 3, 5) })
  const texts = await store.readTexts(ID, 2)
  expect(texts).toHaveLength(3)
  expect(await store.readTexts(ID, 2)).toBe(texts)
  expect(await store.readTexts(ID, 3)).toEqual(texts.slice(1))
})

test('between the pieces of a long log it is the turn of everybody else', async () => {
  const path = directory()
  {
    await using store = await sqliteStore({ directory: path })
    await store.append(ID, { entries: entries(ID, 1, 5_000) })
  }
  await using store = await sqliteStore({ directory: path })
  let turns = 0
  let next = setImmediate(function turn() {
    turns++
    next = setImmediate(turn)
  })
  expect(await readAll(store, ID, 500)).toHaveLength(5_000)
  expect(turns).toBeGreaterThanOrEqual(10)
  const before = turns
  for (let after = 0; after < 5_000; ) after += (await store.readTexts(ID, after)).length
  expect(turns - before).toBeGreaterThanOrEqual(5_000 / 512)
  clearImmediate(next)
})

test('large entries are read a few at a time, none of them left out', async () => {
  const path = directory()
  const large = entries(ID, 1, 40).map((one) => ({
    ...one,
    event: { type: 'output.written', stream: 'stdout', line: 'é'.repeat(100_000 + one.seq) } as const,
  }))
  {
    await using store = await sqliteStore({ directory: path })
    for (const one of large) await store.append(ID, { entries: [one] })
  }
  await using store = await sqliteStore({ directory: path })
  expect(await readAll(store, ID)).toEqual(large)
  expect(await store.read(ID, 3, 2)).toEqual(large.slice(3, 5))
  // However many are asked for: whoever reads them holds them.
  const some = await store.read(ID, 3, 512)
  expect(some).toEqual(large.slice(3, 3 + some.length))
  expect(JSON.stringify(some).length).toBeLessThan(2 * 1024 * 1024)
  const texts: string[] = []
  let most = 0
  while (texts.length < large.length) {
    const some = await store.readTexts(ID, texts.length)
    expect(some).not.toEqual([])
    most = Math.max(most, some.join('').length)
    texts.push(...some)
  }
  expect(texts.map((text) => JSON.parse(text))).toEqual(large)
  expect(most).toBeLessThan(1024 * 1024)
})

describe('what was written', () => {
  test('is all there when the store is opened again', async () => {
    const path = directory()
    const receipt = { scope: 's\ud800', key: 'k\0', fingerprint: 'f', session: ID }
    const bytes = Uint8Array.of(0, 255, 10)
    const blob = await (async () => {
      await using store = await sqliteStore({ directory: path })
      const record = state(ID, { title: '\ud800', status: 'busy' })
      const journal = frames(ID, 1, 300)
      await store.create(ID, { entries: entries(ID, 1, 300), journal, record }, receipt)
      await store.create(sessionId(2), { entries: [], record: state(sessionId(2)) })
      const writer = store.blobs.open()
      writer.write(bytes)
      const ref = await writer.close()
      const event = { type: 'native.unmapped', nativeType: 'x', blob: ref } as const
      await store.append(ID, { entries: [{ seq: 301, session: ID, at: 301, event }] })
      return ref
    })()
    await using store = await sqliteStore({ directory: path })
    expect((await readAll(store, ID)).slice(0, 300)).toEqual(entries(ID, 1, 300))
    expect(await store.readJournal(ID, 0, 1000)).toEqual(frames(ID, 1, 300))
    expect(await store.readJournal(ID, 200, 50)).toEqual(frames(ID, 201, 250))
    expect(await store.record(ID)).toMatchObject({ title: '\ud800', head: 301, updatedAt: 301 })
    expect(await store.record(sessionId(2))).toMatchObject({ head: 0, updatedAt: 0 })
    expect(await store.receipt('s\ud800', 'k\0')).toEqual(receipt)
    expect(await store.receipt('s\ud801', 'k\0')).toBeUndefined()
    expect([...(await blobBytes(store.readBlob(blob)))]).toEqual([...bytes])
    expect((await store.records({ limit: 9 })).map(({ id }) => id)).toEqual([sessionId(2), ID])
    expect((await store.records({ status: 'busy', limit: 9 })).map(({ id }) => id)).toEqual([ID])
    await expect(store.append(ID, { entries: [entry(ID, 301)] })).rejects.toMatchObject({ code: 'conflict' })
    await store.append(ID, { entries: [entry(ID, 302)] })
  })

  test('is not visible before it is committed', async () => {
    await using store = await sqliteStore({ directory: directory() })
    await store.append(ID, { entries: [entry(ID, 1)] })
    let woken = false
    const changed = store.changed(ID, 1, new AbortController().signal).then(() => {
      woken = true
    })
    let committed = false
    const appended = store.append(ID, { entries: [entry(ID, 2)] }).then(() => {
      committed = true
    })
    // A commit takes a thread and a disk, and this a few microtasks.
    const shown = [await store.read(ID, 1, 9), await store.head(ID), woken, committed]
    expect(shown).toEqual([[], 1, false, false])
    await Promise.all([appended, changed])
    expect(await store.read(ID, 1, 9)).toEqual([entry(ID, 2)])
  })

  test('is read the same from memory and from the database, whatever the batches and the cursor', async () => {
    const batches = fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 600 })), {
      minLength: 1,
      maxLength: 12,
    })
    const cursors = fc.array(fc.tuple(fc.nat(3000), fc.integer({ min: 1, max: 700 })), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(batches, cursors, async (written, cursor) => {
        const path = directory()
        const heads = [0, 0, 0]
        const check = async () => {
          for (const [index, head] of heads.entries()) {
            const id = sessionId(index)
            expect(await store.head(id)).toBe(head)
            for (const [after, limit] of cursor) {
              const expected = entries(id, after + 1, Math.max(after, Math.min(head, after + limit)))
              expect(await store.read(id, after, limit)).toEqual(expected)
            }
          }
        }
        let store = await sqliteStore({ directory: path, durability: 'process' })
        const appended = written.map(([index, count]) => {
          const first = (heads[index] ?? 0) + 1
          heads[index] = first + count - 1
          return store.append(sessionId(index), {
            entries: entries(sessionId(index), first, first + count - 1),
          })
        })
        await Promise.all(appended)
        await check()
        await store[Symbol.asyncDispose]()
        store = await sqliteStore({ directory: path, durability: 'process' })
        await check()
        await store[Symbol.asyncDispose]()
      }),
      { numRuns: runs(3, 8) },
    )
  })

  test('is kept apart for many sessions that write at once, and a wrong batch fails alone', async () => {
    await using store = await sqliteStore({ directory: directory() })
    const ids = Array.from({ length: 300 }, (_, index) => sessionId(index))
    const answers = await Promise.allSettled(
      ids.flatMap((id, index) => {
        const wrong = index % 10 === 0 ? 9 : 3
        return [
          store.append(id, { entries: entries(id, 1, 2), journal: frames(id, 1, 2) }),
          store.append(id, { entries: [entry(id, wrong)] }),
          store.append(id, { entries: [entry(id, wrong === 3 ? 4 : 3)] }),
        ]
      }),
    )
    const refused = answers.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(30)
    for (const [index, id] of ids.entries()) {
      expect(await readAll(store, id)).toEqual(entries(id, 1, index % 10 === 0 ? 3 : 4))
      expect(await store.readJournal(id, 0, 9)).toEqual(frames(id, 1, 2))
    }
  })

  test('is in one row for each session and commit, and in rows of bounded size', async () => {
    const path = directory()
    await using store = await sqliteStore({ directory: path })
    await store.append(ID, { entries: entries(ID, 1, 600) })
    await store.append(ID, { entries: entries(ID, 601, 602) })
    using db = database(path)
    const rows = db.prepare('SELECT first, last, version FROM log ORDER BY id').all()
    expect(rows.map(({ first, last }) => [first, last])).toEqual([
      [1, 256],
      [257, 512],
      [513, 600],
      [601, 602],
    ])
    expect(new Set(rows.map(({ version }) => version))).toEqual(new Set([SCHEMA_VERSION]))
  })

  test('is refused alone when it cannot be written as JSON', async () => {
    await using store = await sqliteStore({ directory: directory() })
    const event = { type: 'tool.started', toolId: 't', name: 'n', kind: 'other', input: 1n } as const
    const poisoned = store.append(ID, { entries: [{ seq: 1, session: ID, at: 1, event }] })
    const healthy = store.append(sessionId(2), { entries: entries(sessionId(2), 1, 1) })
    await expect(poisoned).rejects.toMatchObject({ code: 'storage_failed' })
    await healthy
    await store.append(ID, { entries: entries(ID, 1, 1) })
    expect(await store.head(ID)).toBe(1)
  })
})

describe('a reader that waits', () => {
  test('is woken by what lies beyond its cursor, and by nothing else', async () => {
    await using store = await sqliteStore({ directory: directory() })
    const leave = new AbortController()
    let woken = false
    const waiting = store.changed(ID, 2, leave.signal).then(() => {
      woken = true
    })
    await store.append(ID, { entries: entries(ID, 1, 2) })
    await store.append(sessionId(2), { entries: entries(sessionId(2), 1, 9) })
    expect(woken).toBe(false)
    await store.append(ID, { entries: entries(ID, 3, 3) })
    await waiting
  })

  test('is woken when the store is closed, and its next read fails', async () => {
    const store = await sqliteStore({ directory: directory() })
    const waiting = store.changed(ID, 0, new AbortController().signal)
    await store[Symbol.asyncDispose]()
    await waiting
    await expect(store.read(ID, 0, 1)).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(store.append(ID, { entries: entries(ID, 1, 1) })).rejects.toMatchObject({
      code: 'storage_failed',
    })
  })
})

describe('closing', () => {
  test('commits what was still on its way', async () => {
    const path = directory()
    const store = await sqliteStore({ directory: path })
    const appended = Array.from({ length: 50 }, (_, index) =>
      store.append(ID, { entries: [entry(ID, index + 1)] }),
    )
    await Promise.all([store[Symbol.asyncDispose](), ...appended])
    await using again = await sqliteStore({ directory: path })
    expect(await readAll(again, ID)).toEqual(entries(ID, 1, 50))
  })
})

describe('a backup', () => {
  test('that is made while the store is in use can be opened as a store', async () => {
    const [path, backup] = [directory(), directory()]
    await using store = await sqliteStore({ directory: path })
    const appended = Array.from({ length: 200 }, (_, index) => {
      const first = index * 10 + 1
      return store.append(ID, { entries: entries(ID, first, first + 9) })
    })
    await appended[20]
    {
      using db = database(path)
      db.exec(`VACUUM INTO '${backup}/mainstem.db'`)
    }
    await Promise.all(appended)
    await using copy = await sqliteStore({ directory: backup })
    const head = await copy.head(ID)
    expect(head).toBeGreaterThanOrEqual(210)
    expect(await readAll(copy, ID)).toEqual(entries(ID, 1, head))
  })
})

describe('entries of another schema version', () => {
  const from = async (version: number) => {
    const path = directory()
    await using store = await sqliteStore({ directory: path })
    await store.append(ID, { entries: entries(ID, 1, 2) })
    using db = database(path)
    db.exec(`UPDATE log SET version = ${version}, sum = NULL`)
    return path
  }

  test('are converted when they are read', async () => {
    const upcasts = new Map([...UPCASTS, [0, (old: unknown) => ({ ...Object(old), turn: 7 })]])
    await using store = await sqliteStore({ directory: await from(0), upcasts })
    const expected = entries(ID, 1, 2).map((one) => ({ ...one, turn: 7 }))
    expect(await store.read(ID, 0, 9)).toEqual(expected)
  })

  test('are converted beside current ones', async () => {
    const path = await from(0)
    {
      await using store = await sqliteStore({ directory: path })
      await store.append(ID, { entries: entries(ID, 3, 4) })
      await store.append(ID, { entries: entries(ID, 5, 6) })
    }
    const upcasts = new Map([...UPCASTS, [0, (old: unknown) => ({ ...Object(old), turn: 7 })]])
    await using store = await sqliteStore({ directory: path, upcasts })
    expect(await store.read(ID, 1, 4)).toEqual([{ ...entry(ID, 2), turn: 7 }, ...entries(ID, 3, 5)])
    const texts = await store.readTexts(ID, 1)
    expect(texts.map((text) => JSON.parse(text))).toEqual(await store.read(ID, 1, 9))
  })

  test('of version 1 name the decider of a request `asks`, in the log and in the record', async () => {
    const path = directory()
    const opened = { ...SAMPLES['request.opened'], asks: 'hook' }
    const old = { ...entry(ID, 1), event: opened } as Entry
    {
      await using store = await sqliteStore({ directory: path })
      await store.append(ID, { entries: [old], record: state(ID, { requests: [opened] }) })
      using db = database(path)
      db.exec('UPDATE log SET version = 1, sum = NULL')
    }
    await using store = await sqliteStore({ directory: path })
    const event = { ...SAMPLES['request.opened'], answeredBy: 'hook' }
    expect(await store.read(ID, 0, 9)).toEqual([{ ...entry(ID, 1), event }])
    expect((await store.readTexts(ID, 0)).map((text) => JSON.parse(text).event)).toEqual([event])
    expect((await store.record(ID))?.requests).toEqual([event])
  })

  test.each([
    [0, /nothing leads from 0 to 1/],
    [SCHEMA_VERSION + 1, /newer Mainstem/],
  ])('are not guessed at: version %i', async (version, why) => {
    await using store = await sqliteStore({ directory: await from(version) })
    await expect(store.read(ID, 0, 9)).rejects.toMatchObject({
      code: 'storage_failed',
      message: expect.stringMatching(why),
    })
  })
})
