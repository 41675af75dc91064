import { expect, test } from 'vitest'
import { newDatabase, query } from './database.ts'
import { startPostgres } from './server.ts'

test('the tests of a run share a PostgreSQL, and each can have its own database', async () => {
  const [one, other] = await Promise.all([newDatabase(), newDatabase()])
  await query(one, 'CREATE TABLE here (n int)')
  const tables = (url: string) => query(url, "SELECT relname FROM pg_class WHERE relname = 'here'")
  expect([await tables(one), await tables(other)]).toEqual([[{ relname: 'here' }], []])
})

test('a server that is killed keeps what was committed', async () => {
  await using server = await startPostgres()
  await query(server.url, 'CREATE TABLE kept (n int)')
  await query(server.url, 'INSERT INTO kept VALUES (7)')
  await server.kill()
  await expect(query(server.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED')
  await server.start()
  expect(await query(server.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }])
})
