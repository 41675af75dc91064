import { afterEach, describe, expect, test } from 'vitest'
import { SCHEMA_VERSION } from '../../src/model/index.ts'
import { MARGIN_MS } from '../../src/stores/postgres/shared-time.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import type { Store } from '../../src/stores/store.ts'
import { newSchema, query } from '../postgres/database.ts'
import { EmptySchemas } from '../postgres/empty-schemas.ts'
import { storeContract } from './contract.ts'
import { factOf } from './contract-access.ts'
import { nodeContract } from './contract-nodes.ts'
import { entries, entry, frames, readAll, sessionId, state } from './sqlite-parts.ts'

const schemas = new EmptySchemas()
afterEach(() => schemas.release())

storeContract({
  name: 'postgres',
  open: async (monotonic) => postgresStore({ url: await schemas.next(), ...(monotonic && { monotonic }) }),
  keyMarginMs: MARGIN_MS,
})

nodeContract('postgres', async () => {
  const clock = { now: 1_000 }
  const store = await postgresStore({ url: await schemas.next(), monotonic: () => clock.now })
  return {
    store,
    pass: async (ms) => {
      clock.now += ms
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
})

const ID = sessionId(1)
const TTL = 30_000
const never = new AbortController().signal

test('a token and a grant hold on every server at once, and end there at once', async () => {
  const url = await newSchema()
  await using one = await postgresStore({ url })
  await using other = await postgresStore({ url })
  const names = async (store: Store) => (await store.access.tokens()).map(({ name }) => name)
  expect(await names(other)).toEqual([])
  const added = { type: 'token.added', name: 'ci', digest: 'd', roles: [] } as const
  await one.access.change(added, factOf('token.added'))
  await expect.poll(() => names(other), { interval: 10, timeout: 900 }).toEqual(['ci'])
  const both = await Promise.all(
    [one, other].map((store) =>
      store.access.change({ type: 'token.removed', name: 'ci' }, factOf('token.removed')),
    ),
  )
  expect(both.sort()).toEqual([false, true])
  await expect.poll(() => names(one), { interval: 10, timeout: 900 }).toEqual([])
  expect(await names(other)).toEqual([])
  const again = await Promise.all(
    [one, other].map((store) => store.access.change(added, factOf('token.added'))),
  )
  expect(again.sort()).toEqual([false, true])
})

test('keeps everything when it is opened again', async () => {
  const url = await newSchema()
  const batch = { entries: entries(ID, 1, 300), journal: frames(ID, 1, 300), record: state(ID) }
  {
    await using store = await postgresStore({ url })
    await store.create(ID, batch)
  }
  await using store = await postgresStore({ url })
  expect(await readAll(store, ID)).toEqual(batch.entries)
  expect(await store.readJournal(ID, 0, 1000)).toEqual(batch.journal)
  expect(await store.record(ID)).toMatchObject({ id: ID, head: 300 })
})

test('a key lives as long as asked for, whichever server stored it and however far behind its clock is', async () => {
  const url = await newSchema()
  const ahead = { now: 0 }
  await using pruning = await postgresStore({ url, monotonic: () => ahead.now })
  // The last comparison of this server is almost 5 s old when the other one starts.
  ahead.now += 4_900
  const behind = { now: 0 }
  await using storing = await postgresStore({ url, monotonic: () => behind.now })
  const receipt = { scope: 's', key: 'k', fingerprint: 'f', session: ID }
  await storing.create(ID, { entries: entries(ID, 1, 1) }, receipt)
  const DAY = 86_400_000
  ahead.now += DAY - 1
  await pruning.forgetReceipts(DAY)
  expect(await pruning.receipt('s', 'k')).toEqual(receipt)
})

test('a server that was suspended stamps keys with the time of the others', async () => {
  const url = await newSchema()
  const clock = { now: 0 }
  await using suspended = await postgresStore({ url, monotonic: () => 0 })
  await using awake = await postgresStore({ url, monotonic: () => clock.now })
  await query(url, 'UPDATE @open_time SET ms = 7200000')
  const receipt = { scope: 's', key: 'k', fingerprint: 'f', session: ID }
  await suspended.create(ID, { entries: entries(ID, 1, 1) }, receipt)
  clock.now = 7_200_000 + 3_600_000
  await awake.forgetReceipts(3_600_000)
  expect(await awake.receipt('s', 'k')).toEqual(receipt)
})

test('readers at the same cursor share one list', async () => {
  await using store = await postgresStore({ url: await newSchema() })
  await store.append(ID, { entries: entries(ID, 1, 2) })
  await store.append(ID, { entries: entries(ID, 3, 5) })
  const texts = await store.readTexts(ID, 2)
  expect(texts).toHaveLength(3)
  expect(await store.readTexts(ID, 2)).toBe(texts)
  expect(await store.readTexts(ID, 3)).toEqual(texts.slice(1))
})

test('ids and names with any character are found, and those that cannot exist are not', async () => {
  await using store = await postgresStore({ url: await newSchema() })
  const odd = 'a\0b\ud800"\\\n'
  const record = state(odd, { principal: odd, nativeSessionId: odd })
  await store.create(odd, { entries: [{ ...entry(ID, 1), session: odd }], record })
  expect(await store.record(odd)).toMatchObject({ id: odd, principal: odd })
  expect(await store.records({ principals: [odd, 'other'], limit: 9 })).toHaveLength(1)
  expect(await store.nativeOwners(odd)).toEqual([odd])
  expect(await store.record('\0')).toBeUndefined()
  await expect(store.acquire('\ud800', odd, TTL)).rejects.toMatchObject({ code: 'session_not_found' })
})

test('commits batches of many sessions together, and refuses one of them alone', async () => {
  const url = await newSchema()
  await using store = await postgresStore({ url })
  const ids = Array.from({ length: 200 }, (_, index) => sessionId(index))
  await Promise.all(ids.map((id) => store.append(id, { entries: entries(id, 1, 3) })))
  const wrong = new Set([ids[3], ids[77]])
  const answers = await Promise.allSettled(
    ids.map((id) => {
      const [first, last] = wrong.has(id) ? [9, 9] : [4, 5]
      return store.append(id, { entries: entries(id, first, last) })
    }),
  )
  for (const [index, { status }] of answers.entries()) {
    expect(status).toBe(wrong.has(ids[index]) ? 'rejected' : 'fulfilled')
  }
  for (const id of ids) expect(await readAll(store, id)).toEqual(entries(id, 1, wrong.has(id) ? 3 : 5))
})

test('an entry of an older version is read as one of today', async () => {
  const url = await newSchema()
  await using store = await postgresStore({
    url,
    upcasts: new Map([[SCHEMA_VERSION - 1, () => entry(ID, 1)]]),
  })
  await store.append(ID, { entries: [entry(ID, 2)].map((one) => ({ ...one, seq: 1 })) })
  await store.append(ID, { entries: [entry(ID, 2)] })
  const [row] = await query(url, 'SELECT body FROM @log WHERE first = 1')
  const { checksum } = await import('../../src/stores/checksum.ts')
  const sum = checksum([1, 1, SCHEMA_VERSION - 1], ID, row?.body)
  await query(url, 'UPDATE @log SET version = $1, sum = $2 WHERE first = 1', [SCHEMA_VERSION - 1, sum])
  await using again = await postgresStore({
    url,
    upcasts: new Map([[SCHEMA_VERSION - 1, () => entry(ID, 1)]]),
  })
  expect(await again.read(ID, 0, 9)).toEqual([entry(ID, 1), entry(ID, 2)])
  expect(await again.readTexts(ID, 0)).toEqual([entry(ID, 1), entry(ID, 2)].map((one) => JSON.stringify(one)))
})

describe('two servers on one database', () => {
  const open = async () => {
    const url = await newSchema()
    return { one: await postgresStore({ url }), other: await postgresStore({ url }) }
  }

  test('each sees what the other has committed, and is woken by it', async () => {
    const { one, other } = await open()
    await using _ = one
    await using __ = other
    for (let seq = 1; seq <= 5; seq++) {
      const woken = other.changed(ID, seq - 1, never)
      await one.append(ID, { entries: [entry(ID, seq)] })
      await woken
      expect(await other.read(ID, seq - 1, 9)).toEqual([entry(ID, seq)])
    }
    await other.append(ID, { entries: [entry(ID, 6)] })
    expect(await one.read(ID, 5, 9)).toEqual([entry(ID, 6)])
    await one.changed(ID, 5, never)
    expect(await one.readTexts(ID, 4)).toEqual([entry(ID, 5), entry(ID, 6)].map((one) => JSON.stringify(one)))
  })

  test('a commit of the other between a read and the wait ends the wait', async () => {
    const { one, other } = await open()
    await using _ = one
    await using __ = other
    await one.append(ID, { entries: [entry(ID, 1)] })
    await other.changed(ID, 0, never)
    for (let seq = 2; seq <= 20; seq++) {
      expect(await other.read(ID, seq - 1, 9)).toEqual([])
      await one.append(ID, { entries: [entry(ID, seq)] })
      await other.changed(ID, seq - 1, never)
      expect(await other.read(ID, seq - 1, 9)).toEqual([entry(ID, seq)])
    }
  })

  test('one of them gets a key, and the other its receipt', async () => {
    const { one, other } = await open()
    await using _ = one
    await using __ = other
    for (let round = 0; round < 20; round++) {
      const receipt = (session: string) => ({ scope: 's', key: `k${round}`, fingerprint: 'f', session })
      const ids = [sessionId(round * 2), sessionId(round * 2 + 1)] as const
      const create = (store: typeof one, id: string) =>
        store.create(id, { entries: entries(id, 1, 1) }, receipt(id))
      const held = await Promise.all([create(one, ids[0]), create(other, ids[1])])
      expect(held[0]).toEqual(held[1])
      const heads = await Promise.all(ids.map((id) => one.head(id)))
      expect(heads.reduce((sum, head) => sum + head, 0)).toBe(1)
    }
  })

  test('a server that lost its lease writes nothing, whatever it has cached', async () => {
    const { one, other } = await open()
    await using _ = one
    await using __ = other
    await one.create(ID, { entries: entries(ID, 1, 2), record: state(ID) }, undefined, {
      owner: 'a',
      ttlMs: 1,
    })
    await one.append(ID, { entries: entries(ID, 3, 3) }, 1)
    await expect.poll(() => other.acquire(ID, 'b', TTL).catch(() => undefined)).toEqual({ fence: 2 })
    await expect(one.append(ID, { entries: entries(ID, 4, 4) }, 1)).rejects.toMatchObject({ code: 'fenced' })
    await expect(one.append(ID, { entries: [], record: state(ID) }, 1)).rejects.toMatchObject({
      code: 'fenced',
    })
    await expect(one.acquire(ID, 'a', TTL)).rejects.toMatchObject({ code: 'fenced' })
    await other.append(ID, { entries: entries(ID, 4, 6) }, 2)
    expect(await readAll(one, ID)).toEqual(entries(ID, 1, 6))
  })

  test('a reader that waits is woken when the other deletes its session', async () => {
    const { one, other } = await open()
    await using _ = one
    await using __ = other
    await one.append(ID, { entries: entries(ID, 1, 3) })
    const woken = other.changed(ID, 3, never)
    await one.delete(ID)
    await woken
    expect(await other.head(ID)).toBe(0)
  })

  test('a session that the other deletes is gone, with its recent entries', async () => {
    const { one, other } = await open()
    await using _ = one
    await using __ = other
    await one.append(ID, { entries: entries(ID, 1, 3) })
    const left = new AbortController()
    const waiting = one.changed(ID, 3, left.signal)
    await other.delete(ID)
    await expect.poll(() => one.read(ID, 0, 9)).toEqual([])
    left.abort()
    await waiting
    await one.append(ID, { entries: entries(ID, 1, 1) })
    expect(await other.read(ID, 0, 9)).toEqual(entries(ID, 1, 1))
  })
})
