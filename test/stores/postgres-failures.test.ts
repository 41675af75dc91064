import { expect, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres.ts'
import type { Batch, Store } from '../../src/stores/store.ts'
import { newSchema, ownServer, query } from '../postgres/database.ts'
import { startProxy } from '../postgres/proxy.ts'
import { entries, entry, readAll, sessionId, state } from './sqlite-parts.ts'

const ID = sessionId(1)
const TTL = 30_000
/** For what a loaded machine takes its time over. */
const PATIENCE = { timeout: 60_000 }
const never = new AbortController().signal
const CHARGE = { principal: 'ann', agent: 'a', at: 0, sessions: 0, turns: 1, usage: {} }

/** A part of the statement that commits batches. */
const COMMIT = 'begun AS ('

/** What may be in a batch; each is stored once, or a count shows it. */
const BATCHES: readonly [what: string, batch: Batch][] = [
  ['entries', { entries: entries(ID, 3, 5), charges: [CHARGE] }],
  ['a record alone', { entries: [], record: state(ID, { title: 'new' }), charges: [CHARGE] }],
  ['a prompt', { entries: [], queued: [{ turn: 1, prompt: 'x' }], charges: [CHARGE] }],
  [
    'a key',
    {
      entries: entries(ID, 3, 3),
      receipts: [{ scope: 's', key: 'k', fingerprint: 'f', session: ID }],
      charges: [CHARGE],
    },
  ],
]

const turnsOf = async (store: Store) => (await store.dailyUsage('ann'))[0]?.turns ?? 0

test.each(BATCHES)('%s whose answer was lost is found, and not written twice', async (_, batch) => {
  const url = await newSchema()
  await using proxy = await startProxy(url)
  await using store = await postgresStore({ url: proxy.url })
  await store.create(ID, { entries: entries(ID, 1, 2), record: state(ID) }, undefined, {
    owner: 'a',
    ttlMs: TTL,
  })
  const before = await query(url, 'SELECT writes FROM @session')
  proxy.swallow(COMMIT)
  const written = store.append(ID, batch, 1)
  // The database has it, and the store does not know.
  await expect.poll(() => query(url, 'SELECT writes FROM @session')).not.toEqual(before)
  proxy.reset()
  await written
  expect(await turnsOf(store)).toBe(1)
  await store.append(ID, { entries: [], charges: [CHARGE] }, 1)
  expect(await turnsOf(store)).toBe(2)
  expect(await readAll(store, ID)).toEqual(entries(ID, 1, 2 + batch.entries.length))
})

test('a new session whose answer was lost is created once, with its key and its lease', async () => {
  const url = await newSchema()
  await using proxy = await startProxy(url)
  await using store = await postgresStore({ url: proxy.url })
  const receipt = { scope: 's', key: 'k', fingerprint: 'f', session: ID }
  proxy.swallow(COMMIT)
  const batch = { entries: entries(ID, 1, 2), record: state(ID), charges: [CHARGE] }
  const created = store.create(ID, batch, receipt, { owner: 'a', ttlMs: TTL })
  await expect.poll(() => query(url, 'SELECT writes FROM @session')).toEqual([{ writes: '1' }])
  proxy.reset()
  expect(await created).toEqual(receipt)
  await store.append(ID, { entries: entries(ID, 3, 3) }, 1)
  expect(await turnsOf(store)).toBe(1)
})

test('a batch whose answer was lost counts as stored, also if another server has the session since', async () => {
  const url = await newSchema()
  await using proxy = await startProxy(url)
  await using store = await postgresStore({ url: proxy.url })
  await using other = await postgresStore({ url })
  await store.create(ID, { entries: entries(ID, 1, 2), record: state(ID) }, undefined, {
    owner: 'a',
    ttlMs: 1,
  })
  proxy.swallow(COMMIT)
  const written = store.append(ID, { entries: [], record: state(ID, { title: 'new' }) }, 1)
  await expect.poll(() => query(url, 'SELECT writes FROM @session')).toEqual([{ writes: '2' }])
  const { fence } = await other.acquire(ID, 'b', TTL)
  await other.append(ID, { entries: entries(ID, 3, 3) }, fence)
  proxy.reset()
  await written
  await expect(store.append(ID, { entries: [], record: state(ID) }, 1)).rejects.toMatchObject({
    code: 'fenced',
  })
})

test('a broken connection loses nothing, whatever it was used for', async () => {
  const url = await newSchema()
  await using proxy = await startProxy(url)
  await using store = await postgresStore({ url: proxy.url })
  await using other = await postgresStore({ url })
  for (let seq = 1; seq <= 10; seq++) {
    const woken = store.changed(ID, seq - 1, never)
    const id = sessionId(100 + seq)
    const own = store.append(id, { entries: entries(id, 1, 1) })
    if (seq % 2 === 0) proxy.reset()
    await other.append(ID, { entries: [entry(ID, seq)] })
    await Promise.all([woken, own])
    expect(await store.read(ID, seq - 1, 9)).toEqual([entry(ID, seq)])
    expect(await other.read(id, 0, 9)).toEqual(entries(id, 1, 1))
  }
})

test('a database that stays away is a failure of storage, and works again when it is back', async () => {
  await using server = await ownServer()
  await using store = await postgresStore({ url: server.url, patienceMs: 300 })
  await store.append(ID, { entries: entries(ID, 1, 2), record: state(ID) })
  await server.kill()
  const failed = { code: 'storage_failed' }
  const answers = await Promise.allSettled([
    store.append(ID, { entries: entries(ID, 3, 3) }),
    store.append(ID, { entries: entries(ID, 4, 4) }),
    store.read(sessionId(2), 0, 9),
    store.renew('a', TTL),
    store.acquire(ID, 'a', TTL),
    store.probe(),
  ])
  for (const answer of answers) expect(answer).toMatchObject({ status: 'rejected', reason: failed })
  await server.start()
  await store.probe()
  await store.append(ID, { entries: entries(ID, 3, 4) })
  const woken = store.changed(ID, 4, never)
  await using other = await postgresStore({ url: server.url })
  await other.append(ID, { entries: entries(ID, 5, 5) })
  await woken
  expect(await readAll(store, ID)).toEqual(entries(ID, 1, 5))
})

test('a database that is killed and restarted in time loses nothing, and no caller sees an error', async () => {
  await using server = await ownServer()
  await using store = await postgresStore({ url: server.url, patienceMs: 60_000 })
  const ids = [1, 2, 3, 4, 5, 6].map(sessionId)
  let isDone = false
  const write = async (id: string) => {
    let seq = 0
    while (!isDone) await store.append(id, { entries: entries(id, ++seq, seq), charges: [CHARGE] })
    return seq
  }
  const written = ids.map(write)
  for (let kills = 0; kills < 2; kills++) {
    await expect.poll(() => store.head(ids[0] ?? ''), PATIENCE).toBeGreaterThan(20 * (kills + 1))
    await server.kill()
    await server.start()
  }
  isDone = true
  const heads = await Promise.all(written)
  for (const [index, id] of ids.entries()) {
    expect(await readAll(store, id)).toEqual(entries(id, 1, heads[index] ?? 0))
  }
  expect(await turnsOf(store)).toBe(heads.reduce((sum, head) => sum + head, 0))
})
