import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type EventType, MainstemError } from '../../src/model/index.ts'
import { LogReader } from '../../src/reading/log-reader.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { FakeTime } from '../sessions/fake-driver.ts'
import { entries, newDirectory, sessionId, state } from '../stores/sqlite-parts.ts'

const ID = sessionId(1)
const never = new AbortController().signal

async function log(count: number) {
  const store = memoryStore()
  const journal = Array.from({ length: count }, (_, index) => ({
    frame: index + 1,
    stream: 'stdout',
    text: `line ${index + 1}`,
  }))
  await store.create(ID, { entries: entries(ID, 1, count), journal, record: state(ID) })
  return { store, reader: new LogReader(store, new FakeTime()) }
}

test('raw frames are read after one and up to another, both inclusive at the end', async () => {
  const { reader } = await log(9)
  const frames = async (after: number, last: number) => {
    const found: number[] = []
    for await (const page of reader.replayJournal(ID, after, last))
      found.push(...page.map(({ frame }) => frame))
    return found
  }
  expect(await frames(2, 5)).toEqual([3, 4, 5])
  expect(await frames(0, 9)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(await frames(0, 99)).toHaveLength(9)
  expect(await frames(5, 5)).toEqual([])
})

test('entries are replayed up to the last one asked for', async () => {
  const { reader } = await log(9)
  const found: number[] = []
  for await (const page of reader.replay(ID, 2, 5)) found.push(...page.map(({ seq }) => seq))
  expect(found).toEqual([3, 4, 5])
})

test('readers of a deleted log are disconnected, and those of another are not', async () => {
  const { store, reader } = await log(1)
  const other = sessionId(2)
  await store.create(other, { entries: entries(other, 1, 1), record: state(other) })
  const [mine, theirs] = [reader.follow(ID, 0, never), reader.follow(other, 0, never)]
  await mine.next()
  await theirs.next()
  const [ended, next] = [mine.next(), theirs.next()]
  reader.deleted(ID)
  expect((await ended).done).toBe(true)
  await store.append(other, { entries: entries(other, 2, 2) })
  expect((await next).value).toMatchObject([{ seq: 2 }])
  await theirs.return(undefined)
})

test('a reader that is already gone reads nothing', async () => {
  const { reader } = await log(3)
  expect(await reader.follow(ID, 0, AbortSignal.abort()).next()).toEqual({ done: true, value: undefined })
})

test('a reader that has caught up reads once for each commit', async () => {
  const { store } = await log(1)
  const asked: string[] = []
  const counting = new Proxy(store, {
    get(target, name: keyof Store) {
      asked.push(String(name))
      const value = target[name]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const reading = new LogReader(counting, new FakeTime()).follow(ID, 0, never)
  expect((await reading.next()).value).toHaveLength(1)
  asked.length = 0
  for (let seq = 2; seq <= 5; seq++) {
    const next = reading.next()
    await store.append(ID, { entries: entries(ID, seq, seq) })
    expect((await next).value).toMatchObject([{ seq }])
  }
  expect(asked).toEqual([2, 3, 4, 5].flatMap(() => ['changed', 'readSize', 'read']))
  await reading.return(undefined)
})

const FULL = new MainstemError('storage_failed', 'the disk is full')

/** A log that cannot be written until it is repaired. */
async function unwritable(count: number) {
  const { store } = await log(count)
  const disk = { full: true }
  const reader: LogReader = new LogReader(store, new FakeTime(), undefined, async (id) => {
    if (disk.full) throw FULL
    reader.writable(id)
  })
  return { store, reader, disk }
}

test.each(['follow', 'followTexts'] as const)(
  'readers of a log that can no longer be written get the error after its last entry: %s',
  async (follow) => {
    const { reader } = await unwritable(2)
    const waiting = reader[follow](ID, 0, never)
    expect((await waiting.next()).value).toHaveLength(2)
    const next = waiting.next()
    reader.unwritable(ID, FULL)
    await expect(next).rejects.toBe(FULL)
    const later = reader[follow](ID, 0, never)
    expect((await later.next()).value).toHaveLength(2)
    await expect(later.next()).rejects.toBe(FULL)
  },
)

test('a reader that is behind when the log is repaired reads on, and waits for the next commit', async () => {
  const { store, reader, disk } = await unwritable(1)
  const behind = reader.follow(ID, 0, never)
  expect((await behind.next()).value).toHaveLength(1)
  reader.unwritable(ID, FULL)
  disk.full = false
  await store.append(ID, { entries: entries(ID, 2, 2) })
  expect((await behind.next()).value).toMatchObject([{ seq: 2 }])
  reader.writable(ID)
  const next = behind.next()
  await store.append(ID, { entries: entries(ID, 3, 3) })
  expect((await next).value).toMatchObject([{ seq: 3 }])
  expect(reader.failureOf(ID)).toBeUndefined()
  await behind.return(undefined)
})

test.each([
  ['replay', (reader: LogReader, types: ReadonlySet<EventType>) => reader.replay(ID, 0, 3_000, { types })],
  ['follow', (reader: LogReader, types: ReadonlySet<EventType>) => reader.follow(ID, 0, never, types)],
])('%s leaves out entries of other types, but never the last one', async (_, read) => {
  const directory = newDirectory()
  {
    await using store = await sqliteStore({ directory, durability: 'process', search: false })
    const queued = { type: 'turn.queued', turn: 1, prompt: 'x', position: 1 } as const
    const all = entries(ID, 1, 3_000).map((one) => {
      if (one.seq === 3_000) return { ...one, event: { type: 'session.ended', reason: 'completed' } as const }
      return one.seq % 1_000 === 500 ? { ...one, event: queued } : one
    })
    for (let from = 0; from < all.length; from += 10)
      await store.append(ID, {
        entries: all.slice(from, from + 10),
        ...(from === 0 && { record: state(ID) }),
      })
    const reader = new LogReader(store, new FakeTime())
    const found = (await Array.fromAsync(read(reader, new Set<EventType>(['turn.queued'])))).flat()
    expect(found.slice(0, 3).map(({ seq }) => seq)).toEqual([500, 1_500, 2_500])
    expect(found.slice(3).every((one) => one === found.at(-1) || one.seq > 2_500)).toBe(true)
    expect(found.at(-1)?.seq).toBe(3_000)
    expect(found.length).toBeLessThan(520)
  }
  rmSync(directory, { recursive: true })
})
