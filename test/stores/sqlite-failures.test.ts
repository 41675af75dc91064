import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import {
  entries,
  entry,
  newDirectory,
  nextLine,
  readAll,
  sessionId,
  startChild,
  state,
} from './sqlite-parts.ts'

const ID = sessionId(1)
const OTHER = sessionId(2)
const root = newDirectory()
afterAll(() => rmSync(root, { recursive: true }))

let directory = ''
let count = 0
beforeEach(() => {
  directory = join(root, `${++count}`)
})

/** Appends until it fails; the last seq that was acknowledged. */
async function fill(store: Store, id: string): Promise<{ head: number; failure: unknown }> {
  for (let head = 0; ; head += 100) {
    try {
      await store.append(id, { entries: entries(id, head + 1, head + 100) })
    } catch (failure) {
      return { head, failure }
    }
  }
}

test('a full disk stops writes, not reads, and writes succeed again when there is space', async () => {
  await using store = await sqliteStore({ directory, maxBytes: 2_000_000 })
  await store.create(OTHER, { entries: entries(OTHER, 1, 2000), record: state(OTHER) })
  const { head, failure } = await fill(store, ID)
  expect(head).toBeGreaterThan(0)
  expect(failure).toMatchObject({ code: 'storage_failed', message: expect.stringMatching(/full/) })
  // Again and again, and each time the same: nothing of it is kept, nothing of it is shown.
  for (let attempt = 0; attempt < 3; attempt++) {
    const again = store.append(ID, { entries: entries(ID, head + 1, head + 100) })
    await expect(again).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await store.head(ID)).toBe(head)
  }
  expect(await readAll(store, ID)).toEqual(entries(ID, 1, head))
  expect(await store.record(OTHER)).toMatchObject({ head: 2000 })
  await store.delete(OTHER)
  await store.append(ID, { entries: entries(ID, head + 1, head + 100) })
  expect(await readAll(store, ID)).toEqual(entries(ID, 1, head + 100))
})

test('a probe fails while the disk is full, and succeeds when there is room again', async () => {
  await using store = await sqliteStore({ directory, maxBytes: 2_000_000 })
  await store.create(OTHER, { entries: entries(OTHER, 1, 2000), record: state(OTHER) })
  await store.probe()
  await fill(store, ID)
  await expect(store.probe()).rejects.toMatchObject({
    code: 'storage_failed',
    message: expect.stringMatching(/full/),
  })
  await store.delete(OTHER)
  await store.probe()
  expect(readdirSync(directory).sort()).toEqual([
    'blobs',
    'last-commit',
    'lock',
    'lock.owner',
    'mainstem.db',
    'mainstem.db-shm',
    'mainstem.db-wal',
  ])
})

test('a probe that fails does not fail the commits behind it', async () => {
  await using store = await sqliteStore({ directory, maxBytes: 2_000_000 })
  await store.create(OTHER, { entries: entries(OTHER, 1, 2000), record: state(OTHER) })
  // A probe writes only after a commit has failed.
  const { head } = await fill(store, ID)
  await store.delete(OTHER)
  mkdirSync(join(directory, 'probe'))
  const [probe, append] = await Promise.allSettled([
    store.probe(),
    store.append(ID, { entries: entries(ID, head + 1, head + 10) }),
  ])
  expect(probe).toMatchObject({ status: 'rejected', reason: { code: 'storage_failed' } })
  expect(append.status).toBe('fulfilled')
  expect(await readAll(store, ID)).toEqual(entries(ID, 1, head + 10))
})

test('writes queued behind a failed commit fail with it, so that no gap can appear', async () => {
  await using store = await sqliteStore({ directory, maxBytes: 1_000_000 })
  await store.append(ID, { entries: entries(ID, 1, 10) })
  const receipt = { scope: 's', key: 'k', fingerprint: 'f', session: OTHER }
  const answers = await Promise.allSettled([
    store.append(ID, { entries: entries(ID, 11, 9000) }),
    store.append(ID, { entries: [entry(ID, 9001)] }),
    Promise.resolve().then(() => store.append(ID, { entries: [entry(ID, 9002)] })),
    store.create(OTHER, { entries: [entry(OTHER, 1)] }, receipt),
    store.create(sessionId(3), { entries: [entry(sessionId(3), 1)] }, { ...receipt, session: sessionId(3) }),
  ])
  const [first, next, later, together, behind] = answers
  for (const answer of [first, next, later, together])
    expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'storage_failed' } })
  // Waited for the key, and depends on nothing else.
  const held = { ...receipt, session: sessionId(3) }
  expect(behind).toEqual({ status: 'fulfilled', value: held })
  await store.append(ID, { entries: [entry(ID, 11)] })
  expect(await store.create(OTHER, { entries: [entry(OTHER, 1)] }, receipt)).toEqual(held)
  expect(await readAll(store, ID)).toEqual(entries(ID, 1, 11))
  expect(await readAll(store, OTHER)).toEqual([])
})

test('after an error of the disk the store is read on, and written again once the disk is well', async () => {
  // The kernel refuses to let any file grow beyond this, as a broken disk would.
  const child = startChild('limited', directory, ['sh', '-c', 'ulimit -S -f 1000; exec "$@"', 'sh'])
  expect(await nextLine(child)).toMatch(/cannot write to the store: disk I\/O error/)
  const { head, readable } = JSON.parse(await nextLine(child))
  expect(head).toBeGreaterThan(0)
  expect(readable).toBe(head)
  expect(JSON.parse(await nextLine(child))).toEqual({ head: head + 100 })
  await child.exited
  await using store = await sqliteStore({ directory })
  expect(await readAll(store, ID)).toEqual(entries(ID, 1, head + 100))
})

test('a database that is taken away while it is open is noticed at the next commit', async () => {
  await using store = await sqliteStore({ directory })
  await store.append(ID, { entries: entries(ID, 1, 10) })
  const [file, away] = [join(directory, 'mainstem.db'), join(root, 'away.db')]
  renameSync(file, away)
  await expect(store.append(ID, { entries: [entry(ID, 11)] })).rejects.toMatchObject({
    code: 'storage_failed',
    message: expect.stringMatching(/was moved or removed while it was open/),
  })
  await expect(store.append(OTHER, { entries: [entry(OTHER, 1)] })).rejects.toMatchObject({
    code: 'storage_failed',
  })
  renameSync(away, file)
  await store.append(ID, { entries: [entry(ID, 11)] })
  expect(await readAll(store, ID)).toEqual(entries(ID, 1, 11))
})

test('a probe of a store that works writes nothing', async () => {
  await using store = await sqliteStore({ directory })
  await store.append(ID, { entries: entries(ID, 1, 10) })
  const sizes = () =>
    readdirSync(directory).map((name) => [name, statSync(join(directory, name), { bigint: true }).mtimeNs])
  const before = sizes()
  for (let count = 0; count < 20; count++) await store.probe()
  expect(sizes()).toEqual(before)
})
