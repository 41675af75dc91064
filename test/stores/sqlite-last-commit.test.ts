import { closeSync, cpSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { entries, newDirectory, readAll, sessionId, state } from './sqlite-parts.ts'

const ID = sessionId(1)
const root = newDirectory()
afterAll(() => rmSync(root, { recursive: true }))

/** What `kill -9` leaves: the files of a store that is open, but for those that are removed. */
function left(directory: string, name: string, removed: readonly string[]): string {
  const copy = join(root, name)
  const isLeft = (path: string) => !removed.some((end) => path.endsWith(end))
  cpSync(directory, copy, { recursive: true, filter: isLeft })
  return copy
}

test('a store whose WAL was removed after a crash says how many commits are missing', async () => {
  const directory = join(root, 'original')
  {
    await using store = await sqliteStore({ directory })
    await store.create(ID, { entries: entries(ID, 1, 10), record: state(ID) })
  }
  // The database without what a checkpoint may move into it at any time.
  const without = left(directory, 'without', ['lock.owner'])
  await using store = await sqliteStore({ directory })
  await store.append(ID, { entries: entries(ID, 11, 20) })
  const whole = left(directory, 'whole', ['-shm', 'lock.owner'])
  const checkpointed = left(directory, 'checkpointed', ['-shm', 'lock.owner'])
  cpSync(join(whole, 'last-commit'), join(without, 'last-commit'))
  await expect(sqliteStore({ directory: without })).rejects.toMatchObject({
    code: 'storage_failed',
    message: expect.stringMatching(/the last commit is missing in .*mainstem\.db: its -wal file was removed/),
    advice: expect.stringContaining(`delete ${join(without, 'last-commit')}`),
  })
  // Nothing was changed by the refusal, and with the file that was lost everything is there.
  cpSync(join(whole, 'mainstem.db-wal'), join(without, 'mainstem.db-wal'))
  await using restored = await sqliteStore({ directory: without })
  expect(await readAll(restored, ID)).toEqual(entries(ID, 1, 20))
  // Another program that opens and closes the database moves the WAL into it: nothing is missing.
  const other = new DatabaseSync(join(checkpointed, 'mainstem.db'))
  other.prepare('SELECT count(*) FROM log').get()
  other.close()
  await using again = await sqliteStore({ directory: checkpointed })
  expect(await readAll(again, ID)).toEqual(entries(ID, 1, 20))
})

test('a store opens after its last-commit file was deleted, and marks from there', async () => {
  const directory = join(root, 'accepted')
  {
    await using store = await sqliteStore({ directory })
    await store.create(ID, { entries: entries(ID, 1, 10), record: state(ID) })
  }
  rmSync(join(directory, 'last-commit'))
  await using store = await sqliteStore({ directory })
  await store.append(ID, { entries: entries(ID, 11, 12) })
  expect(Number(readFileSync(join(directory, 'last-commit'), 'utf8'))).toBe(2)
})

test('a commit that is on disk succeeds, although it cannot be noted beside the database', async () => {
  const directory = join(root, 'full')
  const noted = join(directory, 'last-commit')
  await using store = await sqliteStore({ directory })
  await store.create(ID, { entries: entries(ID, 1, 10), record: state(ID) })
  const fd = Number(readdirSync('/proc/self/fd').find((name) => targetOf(name) === noted))
  // The same descriptor of a device on which every write fails with ENOSPC.
  closeSync(fd)
  const others: number[] = []
  for (let full = openSync('/dev/full', 'w'); full !== fd; full = openSync('/dev/full', 'w'))
    others.push(full)
  for (const other of others) closeSync(other)
  await store.append(ID, { entries: entries(ID, 11, 20) })
  expect(await readAll(store, ID)).toEqual(entries(ID, 1, 20))
  expect(Number(readFileSync(noted, 'utf8'))).toBe(1)
})

function targetOf(name: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${name}`)
  } catch {
    // The descriptor of the listing itself is closed already.
    return undefined
  }
}
