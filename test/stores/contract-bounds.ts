import { expect, test } from 'vitest'
import type { Entry } from '../../src/model/index.ts'
import type { JournalFrame, Store } from '../../src/stores/store.ts'
import { sessionId } from './sqlite-parts.ts'

const SESSION = sessionId(1)
const KB = 1024

const entry = (seq: number, size: number): Entry => ({
  seq,
  session: SESSION,
  at: seq,
  event: { type: 'output.written', stream: 'stdout', line: `${seq} `.padEnd(size, 'x') },
})

const charsOf = (entries: readonly Entry[]) => JSON.stringify(entries).length

/** Reads the whole log and returns it read by read. */
async function reads<T>(read: (after: number) => Promise<readonly T[]>): Promise<(readonly T[])[]> {
  const found: (readonly T[])[] = []
  for (let after = 0; ; ) {
    const some = await read(after)
    if (some.length === 0) return found
    found.push(some)
    after += some.length
  }
}

/** Reads are bounded by bytes as well as by count, and always progress. */
export function boundsContract(open: () => Promise<Store>): void {
  const sizes = [100, 3 * KB, 3 * KB, 40 * KB, 100, 100, 90 * KB, 90 * KB, ...Array(200).fill(2 * KB)]
  const all = sizes.map((size, index) => entry(index + 1, size))

  test.each([
    ['one commit', [all.length]],
    ['many commits', all.map((_, index) => index + 1)],
    ['a few commits', [3, 7, 60, all.length]],
  ])('reads no more than maxBytes of %s, and always at least one entry', async (_how, ends) => {
    await using store = await open()
    for (const end of ends) {
      await store.append(SESSION, { entries: all.slice(await store.head(SESSION), end) })
    }
    for (const maxBytes of [1, 8 * KB, 64 * KB, 10_000 * KB]) {
      const byEntries = await reads((after) => store.read(SESSION, after, 512, maxBytes))
      expect(byEntries.flat()).toEqual(all)
      const byTexts = await reads((after) => store.readTexts(SESSION, after, maxBytes))
      expect(byTexts.flat()).toEqual(all.map((one) => JSON.stringify(one)))
      for (const some of byEntries) if (some.length > 1) expect(charsOf(some)).toBeLessThan(maxBytes + 2 * KB)
      for (const some of byTexts)
        if (some.length > 1) expect(some.join('').length).toBeLessThanOrEqual(maxBytes)
    }
    expect(await store.read(SESSION, 8, 3, 64 * KB)).toEqual(all.slice(8, 11))
  })

  test('reads a bounded part of a large log by default', async () => {
    await using store = await open()
    const large = Array.from({ length: 40 }, (_, index) => entry(index + 1, 100 * KB))
    await store.append(SESSION, { entries: large })
    for (const some of await reads((after) => store.read(SESSION, after, 512))) {
      expect(charsOf(some)).toBeLessThan(1100 * KB)
    }
  })

  test('weighs a read without doing it: never less than what it then loads, and 0 at the head', async () => {
    await using store = await open()
    await store.append(SESSION, { entries: all })
    // Larger than what is kept in memory of recent commits, so that the entries before it have to be loaded.
    await store.append(SESSION, { entries: [entry(all.length + 1, 2000 * KB)] })
    for (const after of [0, 3, 6, 50]) {
      const size = await store.readSize(SESSION, after, 512)
      const loaded = charsOf(await store.read(SESSION, after, 512))
      expect(size === 0 || size >= loaded - KB).toBe(true)
      expect(size).toBeLessThan(1100 * KB)
    }
    expect(await store.readSize(SESSION, all.length + 1, 512)).toBe(0)
  })

  test('reads no more than maxBytes of raw frames, and always at least one', async () => {
    await using store = await open()
    const frames = sizes.map((size, index): JournalFrame => {
      return { frame: index + 1, stream: 'stdout', text: `${index} `.padEnd(size, 'y') }
    })
    for (const [from, to] of [[0, 5] as const, [5, 150] as const, [150, frames.length] as const]) {
      await store.append(SESSION, { entries: [], journal: frames.slice(from, to) })
    }
    for (const maxBytes of [1, 8 * KB, 10_000 * KB]) {
      const found = await reads((after) => store.readJournal(SESSION, after, 512, maxBytes))
      expect(found.flat()).toEqual(frames)
      for (const some of found) {
        const chars = some.reduce((sum, { text }) => sum + text.length, 0)
        expect(some.length === 1 || chars <= maxBytes).toBe(true)
      }
    }
  })
}
