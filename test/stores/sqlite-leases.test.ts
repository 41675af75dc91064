import { rmSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { MIGRATIONS } from '../../src/stores/sqlite/migrations.ts'
import { migrate } from '../../src/stores/sqlite/schema.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { database, entries, newDirectory, sessionId, state } from './sqlite-parts.ts'

const used: string[] = []
const directory = () => {
  const path = newDirectory()
  used.push(path)
  return path
}
afterAll(() => {
  for (const path of used) rmSync(path, { recursive: true })
})

const ID = sessionId(1)
const TTL = 30_000
const terms = { owner: 'a', ttlMs: TTL }

test('after a restart every lease has expired, and no fence is given twice', async () => {
  const path = directory()
  {
    await using store = await sqliteStore({ directory: path })
    await store.create(ID, { entries: entries(ID, 1, 1), record: state(ID) }, undefined, terms)
    expect(await store.acquire(ID, 'a', TTL)).toEqual({ fence: 2 })
  }
  await using store = await sqliteStore({ directory: path })
  await expect(store.append(ID, { entries: [], release: true }, 1)).rejects.toMatchObject({ code: 'fenced' })
  expect(await store.records({ acquirableBy: 'b', limit: 9 })).toHaveLength(1)
  expect(await store.acquire(ID, 'b', TTL)).toEqual({ fence: 3 })
  await expect(store.append(ID, { entries: entries(ID, 2, 2) }, 2)).rejects.toMatchObject({ code: 'fenced' })
  await store.append(ID, { entries: entries(ID, 2, 2) }, 3)
})

test('a store of the version before leases is opened, and its sessions can be leased', async () => {
  const path = directory()
  const old = database(path)
  migrate(old, MIGRATIONS.slice(0, 7))
  const insert = old.prepare('INSERT INTO session (n, id, principal, status, record) VALUES (?, ?, ?, ?, ?)')
  const { queue: _, ...record } = state(ID, { title: 'old' })
  insert.run(1, ID, record.principal, record.status, JSON.stringify(record))
  old.close()
  await using store = await sqliteStore({ directory: path })
  expect(await store.records({ acquirableBy: 'a', limit: 9 })).toMatchObject([{ id: ID, title: 'old' }])
  await store.append(ID, { entries: entries(ID, 1, 1) })
  expect(await store.acquire(ID, 'a', TTL)).toEqual({ fence: 1 })
  await expect(store.append(ID, { entries: entries(ID, 2, 2) })).rejects.toMatchObject({ code: 'fenced' })
  await store.append(ID, { entries: entries(ID, 2, 2) }, 1)
})

test('a lease that could not be written leaves the one before it', async () => {
  const path = directory()
  const clock = { now: 0 }
  await using store = await sqliteStore({ directory: path, monotonic: () => clock.now })
  await store.create(ID, { entries: entries(ID, 1, 1), record: state(ID) }, undefined, terms)
  const db = database(path)
  db.exec("CREATE TRIGGER full BEFORE UPDATE OF fence ON session BEGIN SELECT raise(ABORT, 'no room'); END")
  clock.now = TTL
  await expect(store.acquire(ID, 'b', TTL)).rejects.toMatchObject({ code: 'storage_failed' })
  await store.append(ID, { entries: entries(ID, 2, 2) }, 1)
  db.exec('DROP TRIGGER full')
  db.close()
  expect(await store.acquire(ID, 'b', TTL)).toEqual({ fence: 2 })
})
