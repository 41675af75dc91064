import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { systemTimers } from '../../src/drivers/timers.ts'
import type { BlobRef, EventType } from '../../src/model/index.ts'
import { LogReader } from '../../src/reading/log-reader.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { newSchema, query } from '../postgres/database.ts'
import { fill, SESSIONS, viewOf } from './damage.ts'
import { database, entries, entry, frames, newDirectory, readAll } from './sqlite-parts.ts'

/** Databases that releases before a change of the schema made, with what `fill` stores. */
const fixture = (name: string) => gunzipSync(readFileSync(new URL(`fixtures/${name}.gz`, import.meta.url)))

const directories: string[] = []
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true })
})

async function previousSqlite(name: string): Promise<Store> {
  const directory = newDirectory()
  directories.push(directory)
  writeFileSync(join(directory, 'mainstem.db'), fixture(name))
  mkdirSync(join(directory, 'blobs'))
  const db = database(directory)
  for (const { id, owner } of db
    .prepare('SELECT b.id, s.id AS owner FROM blob b JOIN session s ON s.n = b.session')
    .all())
    writeFileSync(join(directory, 'blobs', String(id)), `the blob of ${owner}`)
  db.close()
  return sqliteStore({ directory, durability: 'process' })
}

async function previousSchema(name: string): Promise<string> {
  const url = await newSchema()
  await query(url, `CREATE SCHEMA ${new URL(url).searchParams.get('schema')}`)
  await query(url, fixture(name).toString())
  return url
}

async function previousPostgres(name: string): Promise<Store> {
  return postgresStore({ url: await previousSchema(name) })
}

/** The blob that the first entry of a session refers to. */
async function blobIn(store: Store, session: string): Promise<BlobRef | undefined> {
  const [entry] = await store.read(session, 0, 1)
  return entry?.event.type === 'native.unmapped' ? entry.event.blob : undefined
}

/** Parsed, because stores order fields differently. Blobs have other ids in each store. */
async function view(store: Store, session: string): Promise<unknown> {
  const blob = await blobIn(store, session)
  const parts = Object.entries(await viewOf(store, session, blob))
  return parts.map(([part, value]) => [part, JSON.parse(value.replaceAll(blob?.id ?? '-', 'blob'))])
}

describe.each([
  ['sqlite-12.db', previousSqlite, 'older'],
  ['sqlite-13.db', previousSqlite, 'older'],
  ['sqlite-15.db', previousSqlite, 'recent'],
  ['postgres-5.sql', previousPostgres, 'older'],
  ['postgres-7.sql', previousPostgres, 'older'],
  ['postgres-10.sql', previousPostgres, 'recent'],
])('a database of an earlier version, %s', (name, opened, age) => {
  const open = () => opened(name)

  test('has everything that was stored', async () => {
    await using store = await open()
    await using expected = memoryStore()
    await fill(expected)
    for (const id of SESSIONS) expect(await view(store, id)).toEqual(await view(expected, id))
    const usage = (one: Store) => one.dailyUsage()
    expect(await usage(store)).toEqual(await usage(expected))
    expect(await store.nativeOwners(SESSIONS[0])).toEqual(['local'])
  })

  test('has its entries by type, and those that are added', async () => {
    await using store = await open()
    const [id] = SESSIONS
    const { fence } = await store.acquire(id, 'a', 1_000)
    const added = {
      ...entry(id, 11),
      event: { type: 'turn.queued', turn: 1, prompt: 'x', position: 1 } as const,
    }
    await store.append(id, { entries: [added, ...entries(id, 12, 13)] }, fence)
    const reader = new LogReader(store, systemTimers)
    const types = new Set<EventType>(['turn.queued', 'native.unmapped'])
    const query = { types, last: 13, limit: 9, maxBytes: 1e6 }
    const [first] = await store.read(id, 0, 1)
    // Nothing is known of the types of older rows, so that they have to be read.
    const found = age === 'older' ? { entries: [], end: 0 } : { entries: [first, added], end: 13 }
    expect(await store.readTypes(id, { ...query, after: 0 })).toEqual(found)
    expect(await store.readTypes(id, { ...query, after: 10 })).toEqual({ entries: [added], end: 13 })
    const replayed = await Array.fromAsync(reader.replay(id, 0, 13, { types }))
    expect(replayed.flat()).toEqual([...(await store.read(id, 0, 13))])
  })

  test('has its tokens, grants and audit trail', async () => {
    await using store = await open()
    await using expected = memoryStore()
    if (age === 'recent') await fill(expected)
    const namesIn = async ({ access }: Store) => {
      const audit = await access.audit({ order: 'oldest', limit: 9 })
      return {
        tokens: (await access.tokens()).map(({ name }) => name),
        grants: (await access.grants()).map(({ to, of }) => [to, of]),
        audit: audit.map(({ action }) => action),
      }
    }
    expect(await namesIn(store)).toEqual(await namesIn(expected))
  })

  test('is written on, and its sessions can be acquired, trimmed and deleted', async () => {
    await using store = await open()
    const [id, other] = SESSIONS
    const { fence } = await store.acquire(id, 'a', 1_000)
    const batch = { entries: entries(id, 11, 12), journal: frames(id, 11, 12), dequeued: [5] }
    await store.append(id, { ...batch, queued: [{ turn: 11, prompt: 'more' }] }, fence)
    expect((await store.record(id))?.queue.map(({ turn }) => turn)).toEqual([2, 8, 11])
    expect(await store.readJournal(id, 0, 99)).toEqual(frames(id, 2, 12))
    await store.trim(id, { seq: 6, frame: 6 }, fence)
    expect(await store.record(id)).toMatchObject({ earliest: 5, earliestFrame: 5, head: 12 })
    expect(await store.read(id, 4, 99)).toEqual(entries(id, 5, 12))
    await store.delete(other, 1)
    expect(await store.record(other)).toBeUndefined()
    expect((await readAll(store, other)).length).toBe(0)
  })
})

test('a database that servers of an earlier version still use is not migrated', async () => {
  const url = await previousSchema('postgres-7.sql')
  const nodes = async (until: string) => {
    await query(url, 'DELETE FROM @node')
    await query(
      url,
      `INSERT INTO @node VALUES ('first', 'p', '{}', 0, extract(epoch FROM now()) * 1000 ${until})`,
    )
  }
  await nodes('+ 20000')
  await expect(postgresStore({ url })).rejects.toThrow(
    /in use by servers of an older version \(first\): stop them first; .* for \d+ s more/,
  )
  expect(await query(url, 'SELECT max(version) AS version FROM @migration')).toEqual([{ version: 7 }])
  await nodes('- 1')
  await (await postgresStore({ url }))[Symbol.asyncDispose]()
})
