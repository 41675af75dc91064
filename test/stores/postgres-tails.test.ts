import { describe, expect, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres.ts'
import { FIRST_FENCE, type Store } from '../../src/stores/store.ts'
import { newSchema } from '../postgres/database.ts'
import { startProxy } from '../postgres/proxy.ts'
import { entries, entry, sessionId, state } from './sqlite-parts.ts'

const [ID, OTHER, THIRD] = [sessionId(1), sessionId(2), sessionId(3)]
const TTL = 30_000
const OWNER = { owner: 'a', ttlMs: TTL }
const never = new AbortController().signal
const texts = (...seqs: number[]) => seqs.map((seq) => JSON.stringify(entry(ID, seq)))

const READ = /^(?:SELECT|WITH s AS)/

test('the owner of a session answers readers that have caught up from memory', async () => {
  await using proxy = await startProxy(await newSchema())
  await using store = await postgresStore({ url: proxy.url, search: false })
  await store.create(ID, { entries: entries(ID, 1, 1), record: state(ID) }, undefined, OWNER)
  await store.changed(ID, 0, never)
  const before = proxy.statements.filter((sql) => READ.test(sql)).length
  for (let seq = 2; seq <= 40; seq++) {
    expect(await store.readSize(ID, seq - 1, 9)).toBe(0)
    expect(await store.read(ID, seq - 1, 9)).toEqual([])
    expect(await store.readTexts(ID, seq - 1)).toEqual([])
    const woken = store.changed(ID, seq - 1, never)
    await store.append(ID, { entries: [entry(ID, seq)] }, FIRST_FENCE)
    await woken
    expect(await store.readTexts(ID, seq - 1)).toEqual(texts(seq))
    expect(await store.head(ID)).toBe(seq)
  }
  const reads = proxy.statements.filter((sql) => READ.test(sql)).length - before
  // A waiting reader is looked for every 1.5 s, and asks once.
  expect(reads).toBeLessThan(10)
})

test('without notifications of other servers, the owner asks the database', async () => {
  const url = await newSchema()
  const direct = await startProxy(url)
  await using proxy = await startProxy(url)
  await using store = await postgresStore({ url: proxy.url, listenUrl: direct.url, search: false })
  await store.create(ID, { entries: entries(ID, 1, 1) }, undefined, OWNER)
  const reads = () => proxy.statements.filter((sql) => sql.includes('LATERAL')).length
  expect(await store.read(ID, 1, 9)).toEqual([])
  expect(reads()).toBe(0)
  await direct[Symbol.asyncDispose]()
  await expect.poll(async () => [await store.read(ID, 1, 9), reads() > 0]).toEqual([[], true])
})

test('every entry up to the head of a record can be read while its commit is under way', async () => {
  await using store = await postgresStore({ url: await newSchema() })
  await store.create(ID, { entries: entries(ID, 1, 1), record: state(ID) }, undefined, OWNER)
  for (let seq = 2; seq <= 30; seq++) {
    const committed = store.append(ID, { entries: [entry(ID, seq)] }, FIRST_FENCE)
    for (;;) {
      const head = (await store.record(ID))?.head ?? 0
      const [found] = await store.records({ limit: 1 })
      expect(await store.read(ID, head - 1, 1)).toEqual([entry(ID, head)])
      if (head === seq && found?.head === seq) break
    }
    await committed
  }
})

test('every entry of a commit that the feed shows can be read at once', async () => {
  await using store = await postgresStore({ url: await newSchema() })
  await store.create(ID, { entries: entries(ID, 1, 1), record: state(ID) }, undefined, OWNER)
  let position = '0.0.0'
  for (let seq = 2; seq <= 30; seq++) {
    const committed = store.append(ID, { entries: [entry(ID, seq)] }, FIRST_FENCE)
    for (let last = 0; last < seq; ) {
      for (const commit of await store.nodes.commits.after(position)) {
        expect(await store.read(ID, commit.seq - 1, 1)).toEqual([entry(ID, commit.seq)])
        position = `${commit.position}.${commit.count}`
        last = commit.seq
      }
    }
    await committed
  }
})

describe('a server that has lost its lease', () => {
  /** Two servers with the same clock; the first created the session, and the second has acquired it since. */
  const open = async (before?: (servers: Record<'old' | 'other', Store>) => Promise<void>) => {
    const url = await newSchema()
    const clock = { now: 1_000 }
    const monotonic = () => clock.now
    const [old, other] = [await postgresStore({ url, monotonic }), await postgresStore({ url, monotonic })]
    await old.create(ID, { entries: entries(ID, 1, 1) }, undefined, OWNER)
    expect(await old.read(ID, 1, 9)).toEqual([])
    clock.now += TTL - 1
    await before?.({ old, other })
    clock.now += 1
    const { fence } = await other.acquire(ID, 'b', TTL)
    let last = 1
    const write = () => other.append(ID, { entries: [entry(ID, ++last)] }, fence)
    const close = async () => {
      await old[Symbol.asyncDispose]()
      await other[Symbol.asyncDispose]()
    }
    return { old, other, write, [Symbol.asyncDispose]: close }
  }
  const reads = (store: Store, after: number) =>
    Promise.all([store.read(ID, after, 9), store.readTexts(ID, after), store.head(ID)])

  test('reads what the new owner wrote, at once', async () => {
    await using servers = await open()
    await servers.write()
    expect(await reads(servers.old, 1)).toEqual([[entry(ID, 2)], texts(2), 2])
  })

  test('does not rely on a lease that a refused creation did not extend', async () => {
    const key = { scope: 's', key: 'k', fingerprint: 'f', session: OTHER, answer: {} }
    await using servers = await open(async ({ old, other }) => {
      await other.create(OTHER, { entries: entries(OTHER, 1, 1) }, key)
      const again = { ...key, session: THIRD }
      expect(await old.create(THIRD, { entries: entries(THIRD, 1, 1) }, again, OWNER)).toEqual(key)
    })
    await servers.write()
    expect(await reads(servers.old, 1)).toEqual([[entry(ID, 2)], texts(2), 2])
  })

  test('is woken if the new owner writes between a read and the wait', async () => {
    await using servers = await open()
    for (let seq = 2; seq <= 10; seq++) {
      expect(await reads(servers.old, seq - 1)).toEqual([[], [], seq - 1])
      await servers.write()
      await servers.old.changed(ID, seq - 1, never)
      expect(await reads(servers.old, seq - 1)).toEqual([[entry(ID, seq)], texts(seq), seq])
    }
  })

  test('is woken if the new owner writes during the wait, or before the read', async () => {
    await using servers = await open()
    for (let seq = 2; seq <= 10; seq += 2) {
      const woken = servers.old.changed(ID, seq - 1, never)
      await servers.write()
      await woken
      await servers.write()
      expect(await reads(servers.old, seq - 1)).toEqual([
        entries(ID, seq, seq + 1),
        texts(seq, seq + 1),
        seq + 1,
      ])
      expect(await servers.old.read(ID, seq + 1, 9)).toEqual([])
    }
  })

  test('does not take the session for its own after it renewed its other leases', async () => {
    await using servers = await open()
    await servers.old.renew('a', TTL)
    for (let seq = 2; seq <= 5; seq++) {
      await servers.write()
      expect(await reads(servers.old, seq - 1)).toEqual([[entry(ID, seq)], texts(seq), seq])
      expect(await servers.old.read(ID, seq, 9)).toEqual([])
    }
  })

  test('answers from memory again only after it has the session back', async () => {
    await using servers = await open()
    await servers.write()
    await servers.other.release('b')
    const { fence } = await servers.old.acquire(ID, 'a', TTL)
    expect(await servers.old.read(ID, 2, 9)).toEqual([])
    await servers.old.append(ID, { entries: [entry(ID, 3)], release: true }, fence)
    const taken = await servers.other.acquire(ID, 'b', TTL)
    await servers.other.append(ID, { entries: [entry(ID, 4)] }, taken.fence)
    expect(await reads(servers.old, 3)).toEqual([[entry(ID, 4)], texts(4), 4])
  })
})
