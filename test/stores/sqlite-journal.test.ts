import { rmSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeJournal, encodeJournal, joinFrames, splitFrames } from '../../src/stores/journal-body.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { JournalFrame } from '../../src/stores/store.ts'
import { database, entries, frames, newDirectory, sessionId } from './sqlite-parts.ts'

const through = (frames: readonly JournalFrame[]) =>
  splitFrames(decodeJournal(encodeJournal(joinFrames(frames))))

describe('a body of the journal', () => {
  test('gives back every frame, whatever is in it', () => {
    // Any sequence of 16-bit units, so half surrogate pairs, NUL and newlines are among them.
    const units = fc.array(fc.nat(0xffff), { maxLength: 40 })
    const text = units.map((codes) => String.fromCharCode(...codes))
    const frame = fc.record({ frame: fc.nat(), stream: text, text })
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1 }), (frames) => {
        expect(through(frames)).toEqual(frames)
      }),
    )
  })

  test.each([
    ['plain', 'line\n\u2028é\u{1F680}\0'],
    ['with half a surrogate pair', 'cut \ud83d'],
  ])('is compressed when it is large: %s', (_what, text) => {
    const small = [{ frame: 1, stream: 'stdout', text }]
    const large = [{ frame: 1, stream: 'stdout', text: text.repeat(2000) }]
    expect(through(small)).toEqual(small)
    expect(through(large)).toEqual(large)
    expect(encodeJournal(joinFrames(small)).body.length).toBeGreaterThan(text.length)
    expect(encodeJournal(joinFrames(large)).body.length).toBeLessThan(2000)
  })
})

test('a journal of many rows is read in order from any frame, and deleted whole', async () => {
  const directory = newDirectory()
  const [many, few] = [sessionId(1), sessionId(2)]
  const count = 17_000
  {
    await using store = await sqliteStore({ directory, durability: 'process' })
    await store.append(few, { entries: entries(few, 1, 1), journal: frames(few, 1, 1) })
    const batches = frames(many, 1, count).map((frame) => ({ entries: [], journal: [frame] }))
    await Promise.all(batches.map((batch) => store.append(many, batch)))
    await store.append(few, { entries: [], journal: frames(few, 2, 2) })
    for (const after of [0, 1, 16_380, 16_400, count - 1, count]) {
      const expected = frames(many, after + 1, Math.min(count, after + 40))
      expect(await store.readJournal(many, after, 40)).toEqual(expected)
    }
    await store.delete(many)
    expect(await store.readJournal(many, 0, 40)).toEqual([])
    expect(await store.readJournal(few, 0, 40)).toEqual(frames(few, 1, 2))
  }
  {
    using db = database(directory)
    expect(db.prepare('SELECT count(*) AS rows FROM journal').get()).toEqual({ rows: 2 })
  }
  rmSync(directory, { recursive: true })
})

test('very many frames that were committed together can be read', async () => {
  const directory = newDirectory()
  const id = sessionId(1)
  const journal = Array.from({ length: 200_000 }, (_, index) => ({
    frame: index + 1,
    stream: 'stdout',
    text: 'x',
  }))
  {
    await using store = await sqliteStore({ directory, durability: 'process' })
    await store.append(id, { entries: entries(id, 1, 1), journal })
    expect(await store.readJournal(id, 0, 40)).toEqual(journal.slice(0, 40))
    expect(await store.readJournal(id, 150_000, 40)).toEqual(journal.slice(150_000, 150_040))
  }
  rmSync(directory, { recursive: true })
})
