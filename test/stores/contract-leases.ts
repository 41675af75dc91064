import { expect, test } from 'vitest'
import type { Batch, Store } from '../../src/stores/store.ts'
import type { OpenStore } from './contract-keeping.ts'
import { entries, sessionId, state } from './sqlite-parts.ts'

const SESSION = sessionId(1)
const OTHER = sessionId(2)
const TTL = 30_000
const FENCED = { code: 'fenced' }

const began = (id: string): Batch => ({ entries: entries(id, 1, 2), record: state(id) })

/** Whatever a store keeps of a session. */
const all = async (store: Store, id = SESSION) => ({
  record: await store.record(id),
  log: await store.read(id, 0, 100),
  journal: await store.readJournal(id, 0, 100),
  receipt: await store.receipt('s', 'k'),
  usage: await store.dailyUsage('ann'),
})

const RECEIPT = { scope: 's', key: 'k', fingerprint: 'f', session: SESSION }
const QUEUED = { turn: 2, prompt: 'wait' }
const CHARGE = { principal: 'ann', agent: 'a', at: 0, sessions: 1, turns: 1, usage: {} }

/** Every kind of write, as an owner with this fence makes it. */
const WRITES: readonly [name: string, write: (store: Store, fence?: number) => Promise<unknown>][] = [
  ['entries', (store, fence) => store.append(SESSION, { entries: entries(SESSION, 3, 3) }, fence)],
  [
    'a record alone',
    (store, fence) => store.append(SESSION, { entries: [], record: state(SESSION, { title: 'new' }) }, fence),
  ],
  ['a queued prompt', (store, fence) => store.append(SESSION, { entries: [], queued: [QUEUED] }, fence)],
  ['a dequeued prompt', (store, fence) => store.append(SESSION, { entries: [], dequeued: [1] }, fence)],
  [
    'a frame',
    (store, fence) =>
      store.append(
        SESSION,
        { entries: [], journal: [{ frame: 9, stream: 'stdout', text: 'x' }], frameCounts: counts(9) },
        fence,
      ),
  ],
  ['a receipt', (store, fence) => store.append(SESSION, { entries: [], receipts: [RECEIPT] }, fence)],
  ['a charge', (store, fence) => store.append(SESSION, { entries: [], charges: [CHARGE] }, fence)],
  ['a release', (store, fence) => store.append(SESSION, { entries: [], release: true }, fence)],
  ['a trim', (store, fence) => store.trim(SESSION, { seq: 2 }, fence)],
  ['a deletion', (store, fence) => store.delete(SESSION, fence)],
]

function counts(frames: number) {
  return { frames, coverage: { frames, mapped: frames, unmapped: 0, malformed: 0, oversized: 0 } }
}

/** What every store promises of leases: one owner at a time, and no write of any other. */
export function leaseContract(open: OpenStore): void {
  /** A store with a clock that stands still, and a session of owner `a`. */
  const opened = async () => {
    const clock = { now: 0 }
    const store = await open(() => clock.now)
    await store.create(SESSION, began(SESSION), undefined, { owner: 'a', ttlMs: TTL })
    return { store, clock }
  }

  test('a session that is created with terms is leased from its first commit on', async () => {
    const { store } = await opened()
    await using _ = store
    await expect(store.acquire(SESSION, 'b', TTL)).rejects.toMatchObject({
      ...FENCED,
      details: { retryAfter: 30 },
    })
    await store.append(SESSION, { entries: entries(SESSION, 3, 3) }, 1)
    expect(await store.head(SESSION)).toBe(3)
  })

  test('an owner is refused while the lease of another one lasts, and gets it the moment it ends', async () => {
    const { store, clock } = await opened()
    await using _ = store
    clock.now = TTL - 1
    await expect(store.acquire(SESSION, 'b', TTL)).rejects.toMatchObject(FENCED)
    clock.now = TTL
    expect(await store.acquire(SESSION, 'b', TTL)).toEqual({ fence: 2 })
    await expect(store.acquire(SESSION, 'a', TTL)).rejects.toMatchObject(FENCED)
  })

  test.each(WRITES)('%s of an owner that was replaced is refused, and changes nothing', async (_, write) => {
    const { store, clock } = await opened()
    await using __ = store
    clock.now = TTL
    const { fence } = await store.acquire(SESSION, 'b', TTL)
    await store.append(SESSION, { entries: [], queued: [{ turn: 1, prompt: 'first' }] }, fence)
    const before = await all(store)
    for (const stale of [1, undefined, fence + 1]) {
      await expect(write(store, stale)).rejects.toMatchObject(FENCED)
    }
    expect(await all(store)).toEqual(before)
    // The lease of the new owner is as it was.
    await expect(store.acquire(SESSION, 'c', TTL)).rejects.toMatchObject(FENCED)
    await write(store, fence)
  })

  test('a batch on its way when another owner acquires is committed before it, or not at all', async () => {
    const { store, clock } = await opened()
    await using _ = store
    clock.now = TTL
    const [mine, lease, late] = await Promise.allSettled([
      store.append(SESSION, { entries: entries(SESSION, 3, 3) }, 1),
      store.acquire(SESSION, 'b', TTL),
      store.append(SESSION, { entries: entries(SESSION, 4, 4) }, 1),
    ])
    expect(mine.status).toBe('fulfilled')
    expect(lease).toMatchObject({ status: 'fulfilled', value: { fence: 2 } })
    expect(late).toMatchObject({ status: 'rejected', reason: FENCED })
    expect(await store.record(SESSION)).toMatchObject({ head: 3 })
  })

  test('an owner gets its own session at once, and its earlier life is refused', async () => {
    const { store } = await opened()
    await using _ = store
    expect(await store.acquire(SESSION, 'a', TTL)).toEqual({ fence: 2 })
    await expect(store.append(SESSION, { entries: [], record: state(SESSION) }, 1)).rejects.toMatchObject(
      FENCED,
    )
  })

  test('one renewal extends all leases of an owner, and brings back none that was lost', async () => {
    const { store, clock } = await opened()
    await using _ = store
    await store.create(OTHER, began(OTHER), undefined, { owner: 'a', ttlMs: TTL })
    clock.now = TTL - 1
    await store.renew('a', TTL)
    clock.now = 2 * TTL - 2
    for (const id of [SESSION, OTHER]) await expect(store.acquire(id, 'b', TTL)).rejects.toMatchObject(FENCED)
    clock.now = 2 * TTL - 1
    await store.acquire(SESSION, 'b', TTL)
    await store.renew('a', TTL)
    await expect(store.append(SESSION, { entries: [], release: true }, 1)).rejects.toMatchObject(FENCED)
    await store.append(OTHER, { entries: entries(OTHER, 3, 3) }, 1)
    await expect(store.acquire(OTHER, 'b', TTL)).rejects.toMatchObject(FENCED)
  })

  test('a shorter renewal does not shorten a lease', async () => {
    const { store, clock } = await opened()
    await using _ = store
    await store.renew('a', 1)
    clock.now = TTL - 1
    await expect(store.acquire(SESSION, 'b', TTL)).rejects.toMatchObject(FENCED)
  })

  test('a session is free after its release, and all sessions of an owner after its own', async () => {
    const { store } = await opened()
    await using _ = store
    await store.create(OTHER, began(OTHER), undefined, { owner: 'a', ttlMs: TTL })
    await store.append(SESSION, { entries: entries(SESSION, 3, 3), release: true }, 1)
    await store.append(SESSION, { entries: entries(SESSION, 4, 4) }, 1)
    expect(await store.acquire(SESSION, 'b', TTL)).toEqual({ fence: 2 })
    await expect(store.acquire(OTHER, 'b', TTL)).rejects.toMatchObject(FENCED)
    await store.release('a')
    expect(await store.acquire(OTHER, 'b', TTL)).toEqual({ fence: 2 })
  })

  test('lists the sessions that an owner could acquire', async () => {
    const { store, clock } = await opened()
    await using _ = store
    clock.now = 1
    await store.create(OTHER, began(OTHER), undefined, { owner: 'b', ttlMs: TTL })
    await store.create(sessionId(3), began(sessionId(3)))
    const list = async (acquirableBy: string) =>
      (await store.records({ acquirableBy, limit: 10 })).map(({ id }) => id)
    expect(await list('a')).toEqual([sessionId(3), SESSION])
    expect(await list('b')).toEqual([sessionId(3), OTHER])
    expect(await list('c')).toEqual([sessionId(3)])
    clock.now = TTL
    expect(await list('c')).toEqual([sessionId(3), SESSION])
    await store.append(OTHER, { entries: [], release: true }, 1)
    expect(await list('c')).toEqual([sessionId(3), OTHER, SESSION])
  })

  test('a session without a lease is written without a fence, until it is leased', async () => {
    await using store = await open()
    await store.create(SESSION, began(SESSION))
    await store.append(SESSION, { entries: entries(SESSION, 3, 3) })
    expect(await store.acquire(SESSION, 'a', TTL)).toEqual({ fence: 1 })
    await expect(store.append(SESSION, { entries: entries(SESSION, 4, 4) })).rejects.toMatchObject(FENCED)
  })

  test('there is no lease of a session that is not there, and no write of its last owner', async () => {
    const { store } = await opened()
    await using _ = store
    await expect(store.acquire(OTHER, 'a', TTL)).rejects.toMatchObject({ code: 'session_not_found' })
    await store.delete(SESSION, 1)
    await expect(store.acquire(SESSION, 'a', TTL)).rejects.toMatchObject({ code: 'session_not_found' })
    const ghost = store.append(SESSION, { entries: [], record: state(SESSION) }, 1)
    await expect(ghost).rejects.toMatchObject(FENCED)
    expect(await store.record(SESSION)).toBeUndefined()
  })

  test('a session is not created twice, and keeps its owner', async () => {
    const { store } = await opened()
    await using _ = store
    const again = store.create(SESSION, began(SESSION), undefined, { owner: 'b', ttlMs: TTL })
    await expect(again).rejects.toMatchObject({ code: 'conflict' })
    await store.append(SESSION, { entries: entries(SESSION, 3, 3) }, 1)
  })
}
