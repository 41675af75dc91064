import { expect, test } from 'vitest'
import { Database } from '../../src/stores/postgres/database.ts'
import { newSchema } from '../postgres/database.ts'

/** One after the other, so that one connection executes all of them. */
const NAMED = 'SELECT statement FROM pg_prepared_statements ORDER BY prepare_time'

test('a connection to the server itself parses a statement once', async () => {
  await using database = await Database.open({ url: await newSchema() })
  for (const value of [1, 2, 3]) {
    const { rows } = await database.write('SELECT $1::int AS value', [value])
    expect(rows).toEqual([{ value }])
  }
  const { rows } = await database.write(NAMED)
  expect(rows.map(({ statement }) => statement)).toEqual(['SELECT $1::int AS value', NAMED])
})

test('a connection that has forgotten a statement executes it, and names no more', async () => {
  await using database = await Database.open({ url: await newSchema() })
  await database.write('SELECT 1 AS value')
  // What a pooler does, when it gives the next transaction another connection.
  await database.write('DEALLOCATE ALL')
  expect((await database.write('SELECT 1 AS value')).rows).toEqual([{ value: 1 }])
  expect((await database.write('SELECT 2 AS value')).rows).toEqual([{ value: 2 }])
  expect((await database.write(NAMED)).rows).toEqual([])
})
