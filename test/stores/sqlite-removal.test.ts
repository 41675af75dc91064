import { rmSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { entries, entry, frames, newDirectory, readAll, sessionId, state } from './sqlite-parts.ts'

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

describe('a deleted session', () => {
  test('is gone, and its id can begin again at once', async () => {
    const path = directory()
    const receipt = { scope: 's', key: 'k', fingerprint: 'f', session: ID }
    await using store = await sqliteStore({ directory: path })
    await store.create(
      ID,
      { entries: entries(ID, 1, 3), journal: frames(ID, 1, 3), record: state(ID) },
      receipt,
    )
    const deleted = store.delete(ID)
    const begun = store.append(ID, { entries: [entry(ID, 1)] })
    await Promise.all([deleted, begun])
    expect(await readAll(store, ID)).toEqual([entry(ID, 1)])
    expect(await store.readJournal(ID, 0, 9)).toEqual([])
    expect(await store.record(ID)).toBeUndefined()
    expect(await store.receipt('s', 'k')).toEqual(receipt)
    await store.delete(sessionId(9))
  })
})

test('the age of a key counts the time that processes had the store open', async () => {
  const path = directory()
  let now = 900
  const open = () => sqliteStore({ directory: path, monotonic: () => now })
  const use = (store: Store, key: string) =>
    store.append(ID, { entries: [], receipts: [{ scope: 's', key, fingerprint: 'f', session: ID }] })
  const kept = async (store: Store) => {
    await store.forgetReceipts(1_000)
    const receipts = await Promise.all(['a', 'b'].map((key) => store.receipt('s', key)))
    return receipts.map((receipt) => receipt?.key)
  }
  {
    await using store = await open()
    await use(store, 'a')
    now += 600
    await use(store, 'b')
  }
  // A new process, whose monotonic clock starts elsewhere.
  now = 5
  await using store = await open()
  expect(await kept(store)).toEqual(['a', 'b'])
  now += 401
  expect(await kept(store)).toEqual([undefined, 'b'])
  now += 600
  expect(await kept(store)).toEqual([undefined, undefined])
})
