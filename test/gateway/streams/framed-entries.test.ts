import { expect, test } from 'vitest'
import { framedEntries } from '../../../src/gateway/streams/framed-entries.ts'
import type { Entry } from '../../../src/model/index.ts'
import { LogReader } from '../../../src/reading/log-reader.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { FakeTime } from '../../sessions/fake-driver.ts'
import { entries, sessionId, state } from '../../stores/sqlite-parts.ts'

const ID = sessionId(1)
const KB = 'x'.repeat(1024)

const named = (natives: readonly (number | undefined)[]): Entry[] =>
  entries(ID, 1, natives.length).map((entry, index) => {
    const native = natives[index]
    return native === undefined ? entry : { ...entry, native }
  })

/** A journal with frames of these sizes in KB, and a reader with room for one MB of them. */
async function journal(sizes: readonly number[], earliest = 1) {
  const store = memoryStore()
  const frames = sizes.map((size, index) => ({
    frame: index + 1,
    stream: 'stdout',
    text: `${index + 1} ${KB.repeat(size)}`,
  }))
  await store.create(ID, { entries: entries(ID, 1, 1), journal: frames, record: state(ID) })
  await store.trim(ID, { frame: earliest })
  return new LogReader(store, new FakeTime(), 3 * 1024 * 1024)
}

async function* onePage(page: readonly Entry[]) {
  yield page
}

/** The parts that a page is sent in: for each entry its seq and the number that begins its raw frame. */
async function parts(reader: LogReader, page: readonly Entry[], raw = true) {
  const found: [number, string | undefined][][] = []
  for await (const part of framedEntries(reader, { session: ID, raw }, onePage(page))) {
    found.push(part.entries.map(({ seq, native }) => [seq, part.frames?.get(native ?? 0)?.split(' ', 1)[0]]))
  }
  return found
}

test('a page is sent in parts, each with at most 256 KiB of raw frames or one frame', async () => {
  const reader = await journal([100, 100, 100, 900, 1])
  const page = named([1, 1, undefined, 2, 3, 4, 5, undefined])
  const kb = 256 * 1024
  let bytes = 0
  for await (const { frames } of framedEntries(reader, { session: ID, raw: true }, onePage(page))) {
    const sizes = [...(frames?.values() ?? [])].map(({ length }) => length)
    bytes = Math.max(bytes, sizes.length > 1 ? sizes.reduce((a, b) => a + b, 0) : 0)
  }
  expect(bytes).toBeLessThanOrEqual(kb)
  const sent = await parts(reader, page)
  expect(sent.flat()).toEqual([
    [1, '1'],
    [2, '1'],
    [3, undefined],
    [4, '2'],
    [5, '3'],
    [6, '4'],
    [7, '5'],
    [8, undefined],
  ])
  expect(sent.length).toBeGreaterThanOrEqual(3)
})

test('entries without frames, before the journal, beyond it or out of order are all sent, in order', async () => {
  const reader = await journal([1, 1, 1, 1], 2)
  expect((await parts(reader, named([undefined, undefined]))).flat()).toEqual([
    [1, undefined],
    [2, undefined],
  ])
  expect((await parts(reader, named([1, 2, 4, 3, 9]))).flat()).toEqual([
    [1, undefined],
    [2, '2'],
    [3, '4'],
    [4, '3'],
    [5, undefined],
  ])
  expect(await parts(reader, named([1, 2]), false)).toEqual([
    [
      [1, undefined],
      [2, undefined],
    ],
  ])
})

test('a reader that stops leaves room for the next, and many readers of large frames wait for each other', async () => {
  const reader = await journal([900, 900])
  const open = Array.from({ length: 3 }, () =>
    framedEntries(reader, { session: ID, raw: true }, onePage(named([1, 2]))),
  )
  const [first, second, third] = open.map((parts) => parts.next())
  expect((await first)?.value).toMatchObject({ entries: [{ seq: 1 }] })
  let isAdmitted = false
  void second?.then(() => {
    isAdmitted = true
  })
  await new Promise(setImmediate)
  expect(isAdmitted).toBe(false)
  await open[0]?.return(undefined)
  expect((await second)?.done).toBe(false)
  await open[1]?.return(undefined)
  expect((await third)?.done).toBe(false)
  await open[2]?.return(undefined)
})
