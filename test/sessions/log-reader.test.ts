import { expect, test } from 'vitest'
import { LogReader } from '../../src/sessions/log-reader.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { entries, sessionId, state } from '../stores/sqlite-parts.ts'
import { FakeTime } from './fake-driver.ts'

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
