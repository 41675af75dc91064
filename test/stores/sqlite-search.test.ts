import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import type { Entry } from '../../src/model/index.ts'
import { searchTerms } from '../../src/model/text/search-terms.ts'
import { TextIndexer } from '../../src/stores/sqlite/search/indexer.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { database, newDirectory, sessionId, state } from './sqlite-parts.ts'

const used: string[] = []
const directory = () => {
  const path = newDirectory()
  used.push(path)
  return path
}
afterAll(() => {
  for (const path of used) rmSync(path, { recursive: true })
})

const [ID, OTHER] = [sessionId(1), sessionId(2)]
const SECRET = 'zebrafish'

const said = (session: string, seq: number, text: string): Entry => ({
  seq,
  session,
  at: seq,
  event: { type: 'text.completed', messageId: `m${seq}`, text },
})
const open = (path: string) => sqliteStore({ directory: path, durability: 'process' })
const append = (store: Store, session: string, seq: number, text: string) =>
  store.append(session, { entries: [said(session, seq, text)], ...(seq === 1 && { record: state(session) }) })
const found = async (store: Store, query: string) => {
  const { entries } = await store.search({ principal: 'local', terms: searchTerms(query), limit: 100 })
  return entries.map(({ session, seq }) => `${session.at(-1)}.${seq}`)
}

/** Whether any file of a store has this text, in any form that SQLite writes. */
function isInFiles(path: string, text: string): boolean {
  const files = readdirSync(path).filter((name) => name.endsWith('.db') || name.includes('.db-'))
  // An index writes a token without the beginning that it shares with the one before it.
  return files.some((name) => readFileSync(join(path, name)).includes(text.slice(3)))
}

const indexer = (path: string) => new TextIndexer(join(path, 'mainstem.db'), join(path, 'search.db'))
const ask = { principal: 'local', terms: searchTerms('row'), limit: 10_000, waitMs: 0 }

describe('the text of removed entries', () => {
  test('of a deleted session is in no file of the store once it is closed', async () => {
    const path = directory()
    {
      await using store = await open(path)
      await append(store, ID, 1, `the ${SECRET}, zebra and zeppelin`)
      await append(store, OTHER, 1, 'zebra crossing')
      expect(await found(store, 'zebra')).toEqual(['2.1', '1.1'])
      await store.delete(ID)
      expect(await found(store, 'zebra')).toEqual(['2.1'])
    }
    expect(isInFiles(path, 'crossing')).toBe(true)
    expect(isInFiles(path, SECRET)).toBe(false)
    expect(isInFiles(path, 'zeppelin')).toBe(false)
  })

  test('of a trimmed log is in no file of the store once it is closed', async () => {
    const path = directory()
    {
      await using store = await open(path)
      await append(store, ID, 1, SECRET)
      await append(store, ID, 2, 'crossing')
      expect(await found(store, SECRET)).toEqual(['1.1'])
      await store.trim(ID, { seq: 2 })
    }
    expect(isInFiles(path, 'crossing')).toBe(true)
    expect(isInFiles(path, SECRET)).toBe(false)
  })

  test('leaves the index after the next start, if the process ended before', async () => {
    const path = directory()
    {
      await using store = await open(path)
      await append(store, ID, 1, SECRET)
      await append(store, OTHER, 1, 'crossing')
      expect(await found(store, SECRET)).toEqual(['1.1'])
    }
    const index = readFileSync(join(path, 'search.db'))
    {
      await using store = await open(path)
      await store.delete(ID)
    }
    writeFileSync(join(path, 'search.db'), index)
    expect(isInFiles(path, SECRET)).toBe(true)
    {
      await using store = await open(path)
      expect(await found(store, 'crossing')).toEqual(['2.1'])
    }
    expect(isInFiles(path, SECRET)).toBe(false)
  })
})

describe('the index', () => {
  test('finds what was committed after it was written last, also in place of what was deleted', async () => {
    const path = directory()
    {
      await using store = await open(path)
      await append(store, ID, 1, 'first')
      await append(store, OTHER, 1, 'second')
      expect(await found(store, 'second')).toEqual(['2.1'])
    }
    const index = readFileSync(join(path, 'search.db'))
    {
      await using store = await open(path)
      await store.delete(OTHER)
      await append(store, ID, 2, 'third')
    }
    {
      await using store = await open(path)
      await append(store, ID, 3, 'fourth')
    }
    writeFileSync(join(path, 'search.db'), index)
    await using store = await open(path)
    expect(await found(store, 'second')).toEqual([])
    expect(await found(store, 'third')).toEqual(['1.2'])
    expect(await found(store, 'fourth')).toEqual(['1.3'])
  })

  test.each([
    ['is missing', (file: string) => rmSync(file)],
    ['is no database', (file: string) => writeFileSync(file, 'something else')],
    ['is damaged', (file: string) => writeFileSync(file, damagedFrom(readFileSync(file), 4096))],
    ['has damaged words', (file: string) => damageWords(file)],
    ['is empty', (file: string) => writeFileSync(file, '')],
  ])('is built anew where it %s', async (_, damage) => {
    const path = directory()
    {
      await using store = await open(path)
      await append(store, ID, 1, 'needle')
      expect(await found(store, 'needle')).toEqual(['1.1'])
    }
    damage(join(path, 'search.db'))
    await using store = await open(path)
    await expect.poll(() => found(store, 'needle').catch(String)).toEqual(['1.1'])
  })

  test('is built anew after a backup was restored', async () => {
    const path = directory()
    {
      await using store = await open(path)
      await append(store, ID, 1, 'early')
    }
    const backup = readFileSync(join(path, 'mainstem.db'))
    {
      await using store = await open(path)
      await append(store, ID, 2, 'lost')
      await append(store, OTHER, 1, 'also lost')
      await store.delete(ID)
      expect(await found(store, 'lost')).toEqual(['2.1'])
    }
    writeFileSync(join(path, 'mainstem.db'), backup)
    await using store = await open(path)
    expect(await found(store, 'early')).toEqual(['1.1'])
    await append(store, ID, 2, 'later')
    expect(await found(store, 'later')).toEqual(['1.2'])
    expect(await found(store, 'lost')).toEqual([])
  })

  test('of an older database grows from the newest entry to the oldest, in steps that survive an end', async () => {
    const path = directory()
    const rows = 1_300
    {
      await using store = await open(path)
      await append(store, ID, 1, 'row')
      await Promise.all(Array.from({ length: rows - 1 }, (_, index) => append(store, ID, index + 2, 'row')))
    }
    rmSync(join(path, 'search.db'), { force: true })
    const first = indexer(path)
    const before = first.find(ask)
    expect(before).toMatchObject({ places: [], isComplete: false })
    expect(first.step()).toBe('backfill')
    const partly = first.find(ask)
    expect(partly.isComplete).toBe(false)
    expect(partly.places[0]?.seq).toBe(rows)
    first.close()

    const second = indexer(path)
    expect(second.find(ask).places.length).toBe(partly.places.length)
    while (second.step() !== 'nothing');
    const all = second.find(ask)
    second.close()
    expect(all.isComplete).toBe(true)
    expect(all.places.map(({ seq }) => seq)).toEqual(Array.from({ length: rows }, (_, index) => rows - index))
  })

  test('a search does not wait for the index of all new entries', async () => {
    const path = directory()
    const rows = 1_300
    {
      await using store = await open(path)
      await append(store, ID, 1, 'row')
      await found(store, 'row')
    }
    {
      // Without a thread that indexes meanwhile.
      await using store = await sqliteStore({ directory: path, durability: 'process', search: false })
      await Promise.all(Array.from({ length: rows - 1 }, (_, index) => append(store, ID, index + 2, 'row')))
    }
    const index = indexer(path)
    const partly = index.find(ask)
    expect(partly.isComplete).toBe(false)
    expect(partly.places.length).toBeLessThan(rows)
    const all = index.find({ ...ask, waitMs: 60_000 })
    expect([all.isComplete, all.places.length]).toEqual([true, rows])
    index.close()
  })

  test('a search indexes older entries while it has too few, for as long as it may wait', async () => {
    const path = directory()
    {
      await using store = await open(path)
      await append(store, ID, 1, 'oldest row')
      for (let seq = 2; seq <= 600; seq++) await append(store, ID, seq, 'filler')
    }
    rmSync(join(path, 'search.db'), { force: true })
    const index = indexer(path)
    expect(index.find({ ...ask, waitMs: 60_000, limit: 1 })).toMatchObject({
      places: [{ session: ID, seq: 1 }],
      isComplete: true,
    })
    index.close()
  })
})

test('without a search no index is kept, an earlier one is removed, and a search is refused', async () => {
  const path = directory()
  {
    await using store = await open(path)
    await append(store, ID, 1, 'needle')
    await found(store, 'needle')
  }
  expect(existsSync(join(path, 'search.db'))).toBe(true)
  await using store = await sqliteStore({ directory: path, search: false })
  expect(existsSync(join(path, 'search.db'))).toBe(false)
  await append(store, ID, 2, 'needle')
  await expect(found(store, 'needle')).rejects.toMatchObject({ code: 'unsupported_option' })
})

test('a search skips entries that are damaged', async () => {
  const path = directory()
  {
    await using store = await open(path)
    await append(store, ID, 1, 'needle')
    await append(store, OTHER, 1, 'needle')
    expect(await found(store, 'needle')).toEqual(['2.1', '1.1'])
  }
  const db = database(path)
  db.exec(`UPDATE log SET body = replace(body, 'needle', 'noodle') WHERE id = 1`)
  db.close()
  await using store = await open(path)
  expect(await found(store, 'needle')).toEqual(['2.1'])
})

test('an entry that cannot be read hides no other one', async () => {
  const path = directory()
  {
    await using store = await open(path)
    await append(store, ID, 1, 'first needle')
    await append(store, ID, 2, 'second needle')
    await append(store, ID, 3, 'third needle')
  }
  const db = database(path)
  db.exec(`UPDATE log SET body = replace(body, 'text.completed', 'text.unknown'), sum = NULL WHERE id = 2`)
  db.exec(`UPDATE log SET body = substr(body, 1, 20), sum = NULL WHERE id = 1`)
  db.close()
  await using store = await open(path)
  expect(await found(store, 'needle')).toEqual(['1.3'])
})

/** Makes the tables of FTS5 contradict each other. */
function damageWords(file: string): void {
  const db = new DatabaseSync(file, { defensive: false })
  db.exec(`DELETE FROM word_data WHERE id > 10`)
  db.close()
}

/** The same file with zeros from this byte on. */
function damagedFrom(file: Buffer, from: number): Buffer {
  return Buffer.concat([file.subarray(0, from), Buffer.alloc(file.length - from)])
}
