import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres.ts'
import { MIGRATIONS } from '../../src/stores/sqlite/migrations.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { newDatabase, newSchema, query } from '../postgres/database.ts'
import { entries, sessionId, state } from '../stores/sqlite-parts.ts'
import { Home } from './mainstem-process.ts'

const home = new Home()
afterAll(() => home[Symbol.asyncDispose]())
const copy = (...args: string[]) => home.mainstem(['store', 'copy', ...args])
const ID = sessionId(1)

/** A data directory with one session. */
async function dataDirectory(name: string): Promise<string> {
  const data = join(home.path, name)
  await using store = await sqliteStore({ directory: join(data, 'log') })
  await store.create(ID, { entries: entries(ID, 1, 3), record: state(ID) })
  return data
}

const PATIENT = { timeout: 60_000 }

describe('store copy', PATIENT, () => {
  test('moves the sessions of the daemon, once the daemon is stopped', async () => {
    const url = await newSchema()
    const data = join(home.path, 'data')
    await home.mainstem(['run', 'echo', 'hello'])
    const refused = await copy(data, url)
    expect(refused.err).toContain(`a server has ${join(data, 'log', 'mainstem.db')} open (conflict)`)
    expect(refused.err).toContain('`mainstem daemon stop`')
    expect(refused).toMatchObject({ code: 1, out: '' })
    const exported = (await home.mainstem(['export'])).out
    await home.mainstem(['daemon', 'stop'])
    const copied = await copy(data, url)
    expect(copied.out).toMatch(/^copied and verified: 1 session, \d+ entries, 0 blobs, 0 idempotency keys, /)
    expect(copied.err).toMatch(/^copying: 1 of 1 sessions, .*\nverifying: 1 of 1 sessions, /)
    expect(copied.code).toBe(0)
    // And back, to where another daemon finds it.
    const again = join(home.path, 'again')
    const back = await copy(url, again, '--json')
    expect(JSON.parse(back.out)).toMatchObject({ outcome: 'copied', sessions: 1, blobs: 0 })
    await using other = new Home()
    other.env.MAINSTEM_HOME = again
    expect((await other.mainstem(['export'])).out).toBe(exported)
    expect((await other.mainstem(['send', 'last', 'more'])).out).toBe('more\n')
  })

  test('takes a data directory, its folder, or its file', async () => {
    const data = await dataDirectory('named')
    for (const from of [data, join(data, 'log'), join(data, 'log', 'mainstem.db')]) {
      const { code, out } = await copy(from, join(home.path, `to-${from.length}`, 'log', 'mainstem.db'))
      expect(out).toContain('3 entries')
      expect(code).toBe(0)
    }
  })

  test('refuses bad input in one sentence, and writes nothing', async () => {
    const data = await dataDirectory('good')
    const to = join(home.path, 'never')
    const text = join(home.path, 'text.txt')
    writeFileSync(text, 'text')
    const other = join(home.path, 'other')
    mkdirSync(join(other, 'log'), { recursive: true, mode: 0o700 })
    writeFileSync(join(other, 'log', 'mainstem.db'), 'this is not a database, but long enough to be read')
    const newer = await dataDirectory('newer')
    changed(newer, `PRAGMA user_version = ${MIGRATIONS.length + 1}`)
    const foreign = await dataDirectory('foreign')
    changed(foreign, 'PRAGMA application_id = 1')
    const older = await dataDirectory('older')
    changed(older, 'PRAGMA user_version = 3')
    const empty = await newSchema()
    const cases: [args: string[], code: number, reason: string][] = [
      [['nowhere', to], 4, 'there is no store in'],
      [[text, to], 2, 'is a file that is not called mainstem.db'],
      [[other, to], 1, 'is not a database of Mainstem'],
      [[foreign, to], 1, 'is not a database of Mainstem'],
      [[newer, to], 1, 'use a newer one'],
      [[older, to], 1, 'start the server once'],
      [[data, data], 2, 'both stores are the same'],
      [[data, other], 1, 'is not a database of Mainstem'],
      [[data, newer], 1, 'use a newer one'],
      [[data, 'mysql://user:secret@host/db'], 2, 'the store URL cannot be parsed'],
      [[data, 'postgres://user:secret@127.0.0.1:1/db'], 1, 'cannot be reached'],
      [[empty, to], 4, 'there is no store in PostgreSQL at'],
      [[data], 2, "missing required argument 'to'"],
    ]
    for (const [args, code, reason] of cases) {
      const ran = await copy(...args)
      expect(ran.err, reason).toContain(reason)
      expect(ran.err).not.toContain('secret')
      expect(ran, reason).toMatchObject({ code, out: '' })
    }
    expect(existsSync(to)).toBe(false)
    const tables = 'SELECT FROM pg_namespace WHERE nspname = $1'
    expect(await query(empty, tables, [new URL(empty).searchParams.get('schema')])).toEqual([])
  })

  test('refuses a database that servers use, that is newer, or that is not ours', async () => {
    const data = await dataDirectory('again-good')
    const used = await newSchema()
    {
      await using store = await postgresStore({ url: used })
      const info = { version: '1', labels: [], roots: [], processes: 0, maxProcesses: 1, draining: false }
      await store.nodes.register('n1', 'p', info, 60_000)
    }
    const refused = await copy(data, used)
    expect(refused.err).toMatch(
      /a server has PostgreSQL at .* open: n1 \(conflict\)\nStop every server first\./,
    )
    expect(refused.code).toBe(1)
    await query(used, 'DELETE FROM @node')
    await query(used, 'INSERT INTO @migration VALUES (999)')
    expect((await copy(data, used)).err).toContain('has version 999 of the schema')
    expect((await copy(used, join(home.path, 'never'))).err).toContain('has version 999 of the schema')
    const shared = await newDatabase()
    await query(shared, 'CREATE TABLE customers (n int)')
    expect((await copy(data, shared)).err).toContain('has tables of other programs')
    expect(await query(used, 'SELECT n FROM @session')).toEqual([])
  })

  test('a server refuses an unfinished copy, and says how to finish it', async () => {
    const url = await newSchema()
    const data = await dataDirectory('unfinished')
    await copy(data, url)
    await query(url, "INSERT INTO @setting VALUES ('copy', 'elsewhere')")
    const { err, code } = await home.mainstem(['serve', '--store', url, '--port', '0'])
    expect(err).toMatch(
      /is an unfinished copy of elsewhere \(storage_failed\)\nRun the command that made it again, which completes it\./,
    )
    expect(code).toBe(1)
    const other = await copy(data, url)
    expect(other.err).toContain(
      'is an unfinished copy of elsewhere (conflict)\nFinish that copy, or replace it',
    )
    expect(await copy(data, url, '--restart')).toMatchObject({ code: 0 })
  })
})

function changed(data: string, sql: string): void {
  const db = new DatabaseSync(join(data, 'log', 'mainstem.db'))
  db.exec(sql)
  db.close()
}
