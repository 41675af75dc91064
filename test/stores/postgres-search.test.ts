import pg from 'pg'
import { describe, expect, test } from 'vitest'
import type { Entry } from '../../src/model/index.ts'
import { searchTerms } from '../../src/model/text/search-terms.ts'
import { LogReads } from '../../src/stores/log-store/log-reads.ts'
import { Database } from '../../src/stores/postgres/database.ts'
import { PostgresReader } from '../../src/stores/postgres/reader.ts'
import { WordIndexer } from '../../src/stores/postgres/search/indexer.ts'
import { searchLogs } from '../../src/stores/postgres/search/search-logs.ts'
import { WordIndex } from '../../src/stores/postgres/search/word-index.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import { scopeOf } from '../../src/stores/search.ts'
import type { Store } from '../../src/stores/store.ts'
import { UPCASTS } from '../../src/stores/upcast.ts'
import { newSchema, ownServer, query } from '../postgres/database.ts'
import { sessionId, state } from './sqlite-parts.ts'

const [ID, OTHER] = [sessionId(1), sessionId(2)]

const said = (session: string, seq: number, text: string): Entry => ({
  seq,
  session,
  at: seq,
  event: { type: 'text.completed', messageId: `m${seq}`, text },
})
const append = (store: Store, session: string, seq: number, text: string) =>
  store.append(session, { entries: [said(session, seq, text)], ...(seq === 1 && { record: state(session) }) })
const search = (store: Store, words: string) =>
  store.search({ principal: 'local', terms: searchTerms(words), limit: 2_000 })
const found = async (store: Store, words: string) =>
  (await search(store, words)).entries.map(({ session, seq }) => `${session.at(-1)}.${seq}`)
const documents = async (url: string) => {
  const rows = await query(url, 'SELECT session, seq FROM @document ORDER BY id, seq')
  return rows.map(({ session, seq }) => `${session}.${seq}`)
}

/** Takes the index away, as in a database of an earlier version. */
async function forgetIndex(url: string): Promise<void> {
  await query(
    url,
    `DROP TABLE @document, @indexed, @feed, @token, @permit, @audit, @used, @webhook, @delivery; DROP INDEX @log_xact; CREATE INDEX log_xact ON @log USING brin (xact);
     INSERT INTO @setting VALUES ('feed', '01234567'); ALTER TABLE @journal DROP COLUMN previous;
     ALTER TABLE @session DROP COLUMN queued, DROP COLUMN recorded, DROP COLUMN journaled, DROP COLUMN sum;
     ALTER TABLE @blob DROP COLUMN owner_sum; ALTER TABLE @receipt DROP COLUMN at_sum;
     ALTER TABLE @log DROP COLUMN types; ALTER TABLE @record DROP COLUMN single;
     DELETE FROM @migration WHERE version > 4`,
  )
}

/** Runs steps of the index until nothing is left to do. */
async function index(url: string): Promise<string[]> {
  await using database = await Database.open({ url })
  const words = new WordIndex(database)
  const steps: string[] = []
  do steps.push(await words.step())
  while (steps.at(-1) !== 'nothing')
  return steps
}

test('a search asks the index, and reads the rows that it names', async () => {
  const url = await newSchema()
  await using store = await postgresStore({ url })
  await append(store, ID, 1, 'needle in a haystack')
  for (let seq = 2; seq <= 40; seq++) await append(store, ID, seq, 'hay')
  expect(await found(store, 'needle')).toEqual(['1.1'])
  // Rows wait for transactions of other tests on this server.
  await expect.poll(() => documents(url), { timeout: 10_000 }).toHaveLength(40)
  await query(url, `DELETE FROM @document WHERE tokens @@ '${scopeOf('local')}needle'`)
  expect(await found(store, 'needle')).toEqual([])
})

test('a search for words that follow each other, which many entries have apart, ends in time', async () => {
  const url = await newSchema()
  await using store = await postgresStore({ url })
  await append(store, ID, 1, 'src/index')
  const count = 200
  for (let seq = 2; seq <= count; seq++) await append(store, ID, seq, 'index src')
  await expect.poll(() => documents(url), { timeout: 10_000 }).toHaveLength(count)
  await using database = await Database.open({ url })
  const reader = new LogReads(new PostgresReader(database, () => null), UPCASTS)
  const searchFor = (stepMs: number) => {
    let now = 0
    const deps = { database, index: new WordIndex(database), reader, monotonic: () => (now += stepMs) }
    return searchLogs(deps, { principal: 'local', terms: searchTerms('src/index'), limit: 10 })
  }
  expect(await searchFor(0)).toMatchObject({ entries: [{ seq: 1 }], isComplete: true })
  // Time for one page.
  expect(await searchFor(900)).toEqual({ entries: [], isComplete: false })
})

test('entries are indexed in the background, each once, by whichever server is first', async () => {
  const url = await newSchema()
  await using one = await postgresStore({ url })
  await using other = await postgresStore({ url })
  await append(one, ID, 1, 'first')
  await append(other, OTHER, 1, 'second')
  await expect.poll(() => documents(url), { timeout: 10_000 }).toEqual(['1.1', '2.1'])
  expect(await found(other, 'first')).toEqual(['1.1'])
  expect(await found(one, 'second')).toEqual(['2.1'])
})

test('a server without a search adds nothing to the index, and refuses searches', async () => {
  const url = await newSchema()
  await using store = await postgresStore({ url, search: false })
  await append(store, ID, 1, 'needle')
  await expect(search(store, 'needle')).rejects.toMatchObject({ code: 'unsupported_option' })
  await using other = await postgresStore({ url })
  expect(await found(other, 'needle')).toEqual(['1.1'])
})

test('servers that index at the same time lose and repeat nothing', async () => {
  const url = await newSchema()
  await using store = await postgresStore({ url })
  for (let seq = 1; seq <= 300; seq++) await append(store, ID, seq, `row ${'x'.repeat(4_000)}`)
  const steps = await Promise.all([index(url), index(url), index(url), found(store, 'row')])
  expect(steps[3]).toHaveLength(300)
  // A transaction of another test keeps the newest rows from being indexed.
  await expect
    .poll(() => index(url).then(() => documents(url)))
    .toEqual(Array.from({ length: 300 }, (_, at) => `1.${at + 1}`))
})

test('a commit is found while another transaction of the database stays open', async () => {
  const url = await newSchema()
  await using store = await postgresStore({ url })
  const server = new URL(url)
  server.search = ''
  const client = new pg.Client({ connectionString: server.href })
  await client.connect()
  try {
    await client.query('BEGIN; SELECT pg_current_xact_id()')
    await append(store, ID, 1, 'early needle')
    await append(store, OTHER, 1, 'late needle')
    expect(await search(store, 'needle')).toMatchObject({ isComplete: true })
    expect(await found(store, 'needle')).toEqual(['2.1', '1.1'])
    expect(await documents(url)).toEqual([])
  } finally {
    await client.end()
  }
  await expect.poll(() => index(url).then(() => documents(url))).toEqual(['1.1', '2.1'])
  expect(await found(store, 'needle')).toEqual(['2.1', '1.1'])
})

describe('the documents of removed entries', () => {
  test('are removed with a deleted session and with a trimmed log', async () => {
    const url = await newSchema()
    await using store = await postgresStore({ url })
    await append(store, ID, 1, 'early')
    await append(store, ID, 2, 'late')
    await append(store, OTHER, 1, 'other')
    await expect.poll(() => index(url).then(() => documents(url))).toEqual(['1.1', '1.2', '2.1'])
    await store.trim(ID, { seq: 2 })
    expect(await documents(url)).toEqual(['1.2', '2.1'])
    await store.delete(OTHER)
    expect(await documents(url)).toEqual(['1.2'])
  })

  test('are not added by a step that began before', async () => {
    const url = await newSchema()
    await using store = await postgresStore({ url })
    const ids = Array.from({ length: 30 }, (_, at) => sessionId(at + 1))
    await Promise.all(ids.map((id) => append(store, id, 1, `gone ${'x'.repeat(2_000)}`)))
    await Promise.all([...ids.map((id) => store.delete(id)), index(url), index(url)])
    await index(url)
    expect(await documents(url)).toEqual([])
  })
})

describe('the index of a database of an earlier version', () => {
  test('grows from the newest entry to the oldest, in steps that survive an end', async () => {
    const url = await newSchema()
    const rows = 600
    {
      await using store = await postgresStore({ url })
      await append(store, ID, 1, 'row')
      await Promise.all(Array.from({ length: rows - 1 }, (_, at) => append(store, ID, at + 2, 'row')))
    }
    await forgetIndex(url)
    await using store = await postgresStore({ url })
    await using database = await Database.open({ url })
    const words = new WordIndex(database)
    expect(await words.step()).toBe('backfill')
    const partly = await query(url, 'SELECT min(seq) AS low, count(*) AS count FROM @document')
    expect(Number(partly[0]?.low) + Number(partly[0]?.count)).toBe(rows + 1)
    await append(store, OTHER, 1, 'new row')
    await index(url)
    const all = await search(store, 'row')
    expect(all.isComplete).toBe(true)
    expect(all.entries.map(({ seq }) => seq)).toEqual([
      1,
      ...Array.from({ length: rows }, (_, at) => rows - at),
    ])
  })

  test('is extended by a search that has too few matches', async () => {
    const url = await newSchema()
    {
      await using store = await postgresStore({ url })
      for (let seq = 1; seq <= 20; seq++) await append(store, ID, seq, `row ${seq}`)
    }
    await forgetIndex(url)
    await using store = await postgresStore({ url })
    await expect.poll(() => search(store, 'row 1')).toMatchObject({ isComplete: true })
    expect(await found(store, 'row 20')).toEqual(['1.20'])
  })

  test('is built anew after the database was restored into another server, or for other tokens', async () => {
    for (const change of ['xact = 1000000000000', 'version = 0']) {
      const url = await newSchema()
      await using store = await postgresStore({ url })
      await append(store, ID, 1, 'before')
      await index(url)
      await query(url, `UPDATE @indexed SET ${change}`)
      await query(url, "UPDATE @document SET tokens = ''")
      await index(url)
      await append(store, ID, 2, 'after')
      expect(await found(store, 'before')).toEqual(['1.1'])
      expect(await found(store, 'after')).toEqual(['1.2'])
    }
  })

  test.each(['xact = 1000000000000', 'version = 0'])(
    'is not trusted with %s: a search before it is built anew misses nothing',
    async (change) => {
      const url = await newSchema()
      await using store = await postgresStore({ url })
      await append(store, ID, 1, 'needle')
      await index(url)
      await query(url, `UPDATE @indexed SET ${change}`)
      await query(url, "UPDATE @document SET tokens = ''")
      await append(store, ID, 2, 'needle')
      expect(await found(store, 'needle')).toEqual(['1.2', '1.1'])
    },
  )
})

test.each([
  ['NUL and half a surrogate pair', 'needle \0 \ud800 a\0b'],
  ['more words than PostgreSQL takes at once', `needle ${words(400_000)}`],
  ['one word that is too long for PostgreSQL', `needle ${'ab'.repeat(2_000_000)}`],
  ['letters that become several', `needle ${'\ufb2c'.repeat(39)} ${'\ufb2c \ufb2d'.repeat(30_000)}`],
])('a text with %s is stored and found', async (_, text) => {
  const url = await newSchema()
  await using store = await postgresStore({ url })
  await append(store, ID, 1, text)
  await append(store, ID, 2, 'next needle')
  // Transactions of other tests, in the same database, delay the index.
  await expect.poll(() => index(url).then(() => documents(url))).toEqual(['1.1', '1.2'])
  expect(await found(store, 'needle')).toEqual(['1.2', '1.1'])
})

test('a search skips rows that are damaged', async () => {
  const url = await newSchema()
  await using store = await postgresStore({ url })
  await append(store, ID, 1, 'needle')
  await append(store, OTHER, 1, 'needle')
  await index(url)
  await query(url, "UPDATE @log SET body = replace(body, 'needle', 'needles') WHERE session = 1")
  expect(await found(store, 'needle')).toEqual(['2.1'])
})

test('closing the database ends a step of the index that waits for its return', async () => {
  await using server = await ownServer()
  {
    await using store = await postgresStore({ url: server.url })
    await append(store, ID, 1, 'needle')
  }
  const hour = 3_600_000
  const database = await Database.open({ url: server.url, patienceMs: hour })
  const words = new WordIndex(database)
  const begun = Promise.withResolvers<void>()
  const indexer = new WordIndexer({
    step() {
      begun.resolve()
      return words.step()
    },
  })
  await server.kill()
  indexer.changed()
  await begun.promise
  await Promise.all([indexer[Symbol.asyncDispose](), database[Symbol.asyncDispose]()])
})

/** So many different words. */
function words(count: number): string {
  return Array.from({ length: count }, (_, at) => at.toString(36)).join(' ')
}
