import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { MIGRATIONS } from '../../src/stores/postgres/schema.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import { blocksOf, pages } from '../docs/pages.ts'
import { newDatabase, newSchema, query } from '../postgres/database.ts'
import { entries, sessionId, state } from './sqlite-parts.ts'

const ID = sessionId(1)

/** The one sentence that a person reads. It never contains a password. */
async function refusal(url: string): Promise<string> {
  const thrown: unknown = await postgresStore({ url }).then(
    async (store) => store[Symbol.asyncDispose](),
    (error) => error,
  )
  if (!(thrown instanceof Error)) throw new Error('the store was opened')
  expect(JSON.stringify([thrown, thrown.message, thrown.stack])).not.toContain('secret')
  expect(thrown.message).not.toContain('\n')
  return thrown.message
}

const changed = (url: string, change: (url: URL) => void) => {
  const copy = new URL(url)
  change(copy)
  return copy.href
}

const tablesIn = (url: string) =>
  query(
    url,
    "SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = 'mainstem'",
  )

test.each([
  ['no URL', 'secret', 'cannot be parsed'],
  ['another protocol', 'mysql://user:secret@host/db', 'cannot be parsed'],
  ['no database', 'postgres://user:secret@host', 'names no database'],
  ['a schema that cannot be one', 'postgres://user:secret@host/db?schema=A"b', 'use lower-case letters'],
  ['a host that does not exist', 'postgres://user:secret@host.invalid/db', 'cannot be found'],
  ['a port where nothing listens', 'postgres://user:secret@127.0.0.1:1/db', 'cannot be reached'],
])('refuses %s', async (_, url, why) => {
  expect(await refusal(url)).toContain(why)
})

test('refuses a wrong password, a missing password, and a database that is not there', async () => {
  const url = await newDatabase()
  const wrong = changed(url, (to) => {
    to.password = 'secret'
  })
  expect(await refusal(wrong)).toContain('correct user and password')
  const none = changed(url, (to) => {
    to.password = ''
  })
  expect(await refusal(none)).toContain('correct user and password')
  const missing = changed(url, (to) => {
    to.pathname = 'missing'
  })
  expect(await refusal(missing)).toContain('has no such database')
})

test.each([
  ['SASL authentication failed', 'correct user and password'],
  ['no such user: someone', 'correct user and password'],
  ['database "missing" does not exist', 'has no such database'],
])('a pooler that says "%s" is understood, though its code says nothing', async (message, why) => {
  const fields = ['SFATAL', 'C08P01', `M${message}`, ''].map((field) => `${field}\0`).join('')
  const packet = Buffer.alloc(5 + fields.length)
  packet.write('E')
  packet.writeInt32BE(4 + fields.length, 1)
  packet.write(fields, 5)
  const pooler = createServer((socket) => socket.once('data', () => socket.end(packet))).listen(
    0,
    '127.0.0.1',
  )
  await once(pooler, 'listening')
  const address = pooler.address()
  const port = typeof address === 'object' ? address?.port : undefined
  expect(await refusal(`postgres://user:secret@127.0.0.1:${port}/db`)).toContain(why)
  pooler.close()
})

test('accepts a database with the views of an extension', async () => {
  const url = await newDatabase()
  await query(url, 'CREATE EXTENSION pg_stat_statements')
  await using store = await postgresStore({ url })
  await store.append(ID, { entries: entries(ID, 1, 1) })
})

test('refuses a database with tables of others, unless it has a schema for us', async () => {
  const url = await newDatabase()
  await query(url, 'CREATE TABLE customers (n int)')
  expect(await refusal(url)).toContain('has tables of other programs')
  expect(await tablesIn(url)).toEqual([])
  await query(url, 'CREATE SCHEMA mainstem')
  await using store = await postgresStore({ url })
  await store.append(ID, { entries: entries(ID, 1, 1) })
})

test('refuses a schema with tables that are not ours', async () => {
  const url = await newDatabase()
  await query(url, 'CREATE SCHEMA mainstem')
  await query(url, 'CREATE TABLE mainstem.session (n int)')
  expect(await refusal(url)).toContain('not of Mainstem')
  expect(await tablesIn(url)).toEqual([{ relname: 'session' }])
})

test('refuses the schema of a newer release, and changes nothing', async () => {
  const url = await newSchema()
  await (await postgresStore({ url }))[Symbol.asyncDispose]()
  await query(url, 'INSERT INTO @migration VALUES (999)')
  expect(await refusal(url)).toContain('has version 999 of the schema')
})

test('refuses a server that is too old, with its version', async () => {
  const url = await newDatabase()
  // A function that comes before the one of the server answers instead of it.
  await query(url, 'CREATE SCHEMA fake')
  await query(
    url,
    `CREATE FUNCTION fake.current_setting(name text) RETURNS text STABLE LANGUAGE sql AS $$ SELECT CASE name
      WHEN 'server_version_num' THEN '130014' WHEN 'server_version' THEN '13.14'
      ELSE pg_catalog.current_setting(name) END $$`,
  )
  await query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = fake, pg_catalog`)
  expect(await refusal(url)).toContain('is version 13.14: Mainstem needs 14 or newer')
  expect(await tablesIn(url)).toEqual([])
})

test('refuses a user without rights with what to grant, and leaves nothing half done', async () => {
  const url = await newDatabase()
  const user = `user_${randomBytes(4).toString('hex')}`
  await query(url, `CREATE ROLE ${user} LOGIN PASSWORD 'secret'`)
  const theirs = changed(url, (to) => {
    to.username = user
    to.password = 'secret'
  })
  expect(await refusal(theirs)).toContain('lacks rights')
  await query(url, 'CREATE SCHEMA mainstem')
  expect(await refusal(theirs)).toContain(`GRANT USAGE, CREATE ON SCHEMA mainstem TO "${user}"`)
  expect(await tablesIn(url)).toEqual([])
  await query(url, `GRANT USAGE, CREATE ON SCHEMA mainstem TO ${user}`)
  await (await postgresStore({ url: theirs }))[Symbol.asyncDispose]()
})

test('needs no more rights than the statements of the documentation give', async () => {
  const guide = pages.find(({ path }) => path === 'docs/operations.md')
  const [sql] = guide ? blocksOf(guide).filter(({ language }) => language === 'sql') : []
  const statements = sql?.text.split(';\n').filter((one) => one.trim() !== '') ?? []
  expect(statements.map((one) => one.split(' ', 2).join(' '))).toEqual(['CREATE ROLE', 'CREATE DATABASE'])
  const url = await newDatabase()
  const name = `team_${randomBytes(4).toString('hex')}`
  for (const statement of statements) await query(url, statement.replaceAll('mainstem', name))
  const theirs = changed(url, (to) => {
    to.username = name
    to.password = 'password'
    to.pathname = name
  })
  await using store = await postgresStore({ url: theirs })
  await store.append(ID, { entries: entries(ID, 1, 2), record: state(ID) })
  expect(await store.head(ID)).toBe(2)
})

test('refuses a server that may lose commits in a power cut, unless that is accepted', async () => {
  const url = await newDatabase()
  const { pathname } = new URL(url)
  await query(url, `ALTER DATABASE ${pathname.slice(1)} SET synchronous_commit = off`)
  expect(await refusal(url)).toContain('can lose commits in a power cut')
  await (await postgresStore({ url, durability: 'process' }))[Symbol.asyncDispose]()
})

test('servers that start at the same time migrate once', async () => {
  const url = await newSchema()
  const stores = await Promise.all([1, 2, 3, 4].map(() => postgresStore({ url })))
  for (const store of stores) await store[Symbol.asyncDispose]()
  const applied = await query(url, 'SELECT version FROM @migration ORDER BY version')
  expect(applied).toEqual(MIGRATIONS.map((_, index) => ({ version: index + 1 })))
})
