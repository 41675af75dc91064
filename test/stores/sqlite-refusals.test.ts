import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../src/stores/sqlite/schema.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { database, entries, newDirectory, nextLine, readAll, sessionId, startChild } from './sqlite-parts.ts'

const ID = sessionId(1)
const root = newDirectory()
afterAll(() => rmSync(root, { recursive: true }))

let directory = ''
let file = ''
let count = 0
beforeEach(() => {
  directory = join(root, `${++count}`, 'store')
  file = join(directory, 'mainstem.db')
})

/** A store with 1000 entries in it, closed again. */
async function filled(): Promise<void> {
  await using store = await sqliteStore({ directory })
  await store.append(ID, { entries: entries(ID, 1, 1000) })
}

const refusal = (why: RegExp) =>
  expect(sqliteStore({ directory })).rejects.toMatchObject({
    code: 'storage_failed',
    message: expect.stringMatching(why),
  })

describe('files', () => {
  test('are for the owner alone', async () => {
    await using store = await sqliteStore({ directory })
    await store.append(ID, { entries: entries(ID, 1, 1) })
    const writer = store.blobs.open()
    const ref = await writer.close()
    const modes = readdirSync(directory, { recursive: true }).map((name) => [
      String(name),
      (statSync(join(directory, String(name))).mode & 0o777).toString(8),
    ])
    expect(Object.fromEntries(modes)).toEqual({
      lock: '600',
      'last-commit': '600',
      'lock.owner': '600',
      blobs: '700',
      [`blobs/${ref.id}`]: '600',
      'mainstem.db': '600',
      'mainstem.db-wal': '600',
      'mainstem.db-shm': '600',
    })
    expect(statSync(directory).mode & 0o777).toBe(0o700)
  })

  test('that others could read are closed to them', async () => {
    await filled()
    chmodSync(file, 0o644)
    await using _store = await sqliteStore({ directory })
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('are not put where others could change them', async () => {
    mkdirSync(directory, { recursive: true })
    chmodSync(directory, 0o777)
    await expect(sqliteStore({ directory })).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(/chmod 700/),
    })
    expect(readdirSync(directory)).toEqual([])
  })

  test('that cannot be created are named in the error', async () => {
    mkdirSync(join(directory, '..'), { recursive: true })
    writeFileSync(directory, '')
    await refusal(/cannot open the store: .*store/)
  })
})

describe('a database', () => {
  test('that was there and is missing is not replaced by an empty one', async () => {
    await filled()
    const away = join(directory, '..', 'away.db')
    renameSync(file, away)
    await refusal(/mainstem\.db is missing or empty, but .*blobs is there/)
    writeFileSync(file, '')
    await refusal(/missing or empty/)
    renameSync(away, file)
    await using store = await sqliteStore({ directory })
    expect(await readAll(store, ID)).toEqual(entries(ID, 1, 1000))
  })

  test('that is missing beside its log does not cost the log', async () => {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    writeFileSync(`${file}-wal`, 'frames')
    await refusal(/mainstem\.db-wal is there/)
    expect(readFileSync(`${file}-wal`, 'utf8')).toBe('frames')
  })

  test.each([
    ['its header', 0, /not a database/],
    ['a page of it', 5 * 4096, /damaged|malformed/],
  ])('that is damaged in %s is refused and left as it is', async (_where, at, why) => {
    await filled()
    const bytes = readFileSync(file)
    bytes.fill(0xa5, at, at + 4096)
    writeFileSync(file, bytes)
    await refusal(why)
    expect(readFileSync(file).equals(bytes)).toBe(true)
  })

  test('that is cut short is refused', async () => {
    await filled()
    const half = readFileSync(file).subarray(0, 3 * 4096)
    writeFileSync(file, half)
    await refusal(/damaged|malformed/)
    expect(readFileSync(file).equals(half)).toBe(true)
  })

  test('of a newer version is refused and left as it is', async () => {
    await filled()
    {
      using db = database(directory)
      db.exec('PRAGMA user_version = 99')
    }
    await refusal(/has version 99, this Mainstem knows \d+: use a newer one/)
    using db = database(directory)
    expect(db.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: 99 })
  })

  test('of another program is refused and not changed', async () => {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    {
      using db = new DatabaseSync(file)
      db.exec('CREATE TABLE theirs (a)')
    }
    const before = readFileSync(file)
    await refusal(/is not a database of Mainstem/)
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test('of an older version is migrated in one transaction', () => {
    using db = new DatabaseSync(':memory:')
    const first = 'CREATE TABLE a (x)'
    migrate(db, [first])
    db.exec("INSERT INTO a VALUES ('kept')")
    expect(() => migrate(db, [first, 'ALTER TABLE a ADD COLUMN y', 'nonsense'])).toThrow(/nonsense/)
    db.exec('ROLLBACK')
    expect(db.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: 1 })
    migrate(db, [first, 'ALTER TABLE a ADD COLUMN y', 'ALTER TABLE a ADD COLUMN z'])
    expect(db.prepare('SELECT * FROM a').get()).toEqual({ x: 'kept', y: null, z: null })
  })
})

describe('a second owner', () => {
  test('in another process is refused until the first is gone, even by SIGKILL', async () => {
    const first = startChild('hold', directory)
    expect(await nextLine(first)).toBe('open')
    await refusal(new RegExp(`process ${first.process.pid} has this store open`))
    first.process.kill('SIGKILL')
    await first.exited
    await using store = await sqliteStore({ directory })
    expect(await nextLine(startChild('open', directory))).toMatch(
      `process ${process.pid} has this store open`,
    )
    await store.append(ID, { entries: entries(ID, 1, 1) })
  })

  test.each([
    ['removed', (lock: string) => rmSync(lock)],
    ['replaced', (lock: string) => writeFileSync(`${lock}.new`, '') ?? renameSync(`${lock}.new`, lock)],
  ])('is refused also if the lock of the first was %s', async (_, change) => {
    await filled()
    const first = startChild('hold', directory)
    expect(await nextLine(first)).toBe('open')
    change(join(directory, 'lock'))
    // The attempt that is refused must not admit the next one.
    for (let attempt = 0; attempt < 2; attempt++) await refusal(/another process has .*mainstem\.db open/)
    first.process.kill('SIGKILL')
    await first.exited
    await using store = await sqliteStore({ directory })
    expect(await readAll(store, ID)).toEqual(entries(ID, 1, 1000))
    await refusal(/this process has this store open/)
  })

  test('that is refused leaves the first able to write', async () => {
    await using store = await sqliteStore({ directory })
    await store.append(ID, { entries: entries(ID, 1, 10) })
    rmSync(join(directory, 'lock'))
    expect(await nextLine(startChild('open', directory))).toMatch(/another process has .*mainstem\.db open/)
    await store.append(ID, { entries: entries(ID, 11, 20) })
    expect(await readAll(store, ID)).toEqual(entries(ID, 1, 20))
  })

  test.each([
    ['on another host', '7 elsewhere', /process 7 on elsewhere has this store open/],
    ['that has ended', `999999999 ${hostname()}`, /another process has this store open/],
    ['that wrote no name', '', /another process has this store open/],
  ])('is told about an owner %s', async (_, owner, message) => {
    await using _first = await sqliteStore({ directory })
    writeFileSync(join(directory, 'lock.owner'), owner)
    await refusal(message)
  })

  test('in the same process is refused as well', async () => {
    {
      await using _first = await sqliteStore({ directory })
      await refusal(/this process has this store open/)
    }
    await using _second = await sqliteStore({ directory })
  })
})
