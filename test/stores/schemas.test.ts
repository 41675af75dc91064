import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as postgres from '../../src/stores/postgres/table-rows.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import * as sqlite from '../../src/stores/sqlite/table-rows.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { columnsOf, isFree, TABLES, type TableName } from '../../src/stores/tables.ts'
import { newSchema, query } from '../postgres/database.ts'
import { database, newDirectory } from './sqlite-parts.ts'

interface Column {
  type: string
  isRequired: boolean
}

/** The tables of a database, and its checksums by table. */
interface Schema {
  tables: Readonly<Record<string, Readonly<Record<string, Column>>>>
  sums: Readonly<Record<TableName, object>>
  types: Readonly<Record<ReturnType<typeof typeOf>, readonly string[]>>
  /** Where the columns of a session and its parts are, and their names there if they have others. */
  session: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Columns with which the database orders rows and finds sessions. */
  own: Readonly<Partial<Record<string, readonly string[]>>>
}

const typeOf = (table: TableName, name: string) => new Map(columnsOf(table)).get(name)?.type ?? 'integer'
const named = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, name]))
const COUNTS = named('frames', 'mapped', 'unmapped', 'malformed', 'oversized')
const RECORD = named('asking', 'single', 'principal', 'status')
const EDGE = named('fence', 'owner', 'earliest', 'earliest_frame', 'queued')
const END = named('head', 'at', 'journaled')

async function sqliteSchema(): Promise<Schema> {
  const directory = newDirectory()
  await (await sqliteStore({ directory, durability: 'process' }))[Symbol.asyncDispose]()
  const db = database(directory)
  const rows = db
    .prepare(`SELECT t.name AS "table", c.name, lower(c.type) AS type, c."notnull" OR c.pk > 0 AS required
      FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'`)
    .all()
  db.close()
  rmSync(directory, { recursive: true })
  return {
    tables: tablesOf(rows),
    sums: sqlite.SUMS,
    types: {
      integer: ['integer'],
      // An older version wrote times as integers.
      real: ['real', 'integer'],
      name: ['text'],
      text: ['text'],
      bytes: ['blob'],
      flag: ['integer'],
    },
    session: {
      session: { session: 'id', ...EDGE, ...RECORD, record: 'record' },
      tail: END,
      heard: { last_frame: 'last', ...COUNTS },
    },
    own: { log: ['id'], journal: ['id'], queued: ['id'] },
  }
}

async function postgresSchema(): Promise<Schema> {
  const url = await newSchema()
  await (await postgresStore({ url }))[Symbol.asyncDispose]()
  const rows = await query(
    url,
    `SELECT table_name AS "table", column_name AS name, data_type AS type, is_nullable = 'NO' AS required
      FROM information_schema.columns WHERE table_schema = $1`,
    [new URL(url).searchParams.get('schema')],
  )
  return {
    tables: tablesOf(rows),
    sums: postgres.SUMS,
    types: {
      integer: ['bigint', 'integer'],
      real: ['double precision'],
      name: ['text'],
      text: ['text'],
      bytes: ['bytea'],
      flag: ['boolean'],
    },
    session: {
      session: { session: 'id', ...EDGE, ...END, last_frame: 'last_frame', ...COUNTS },
      record: { ...RECORD, record: 'body' },
    },
    own: { log: ['id', 'xact'], blob: ['made', 'bytes'] },
  }
}

function tablesOf(rows: readonly Record<string, unknown>[]): Schema['tables'] {
  const tables: Record<string, Record<string, Column>> = {}
  for (const { table, name, type, required } of rows) {
    const column = { type: String(type), isRequired: Boolean(required) }
    tables[String(table)] = { ...tables[String(table)], [String(name)]: column }
  }
  return tables
}

test.each([
  ['sqlite', sqliteSchema],
  ['postgres', postgresSchema],
])('the tables of %s have the columns and types of the list, and no others', async (_, read) => {
  const { tables, sums, types, session, own } = await read()
  const expectColumn = (table: TableName, name: string, at: string, column: string) => {
    const found = tables[at]?.[column]
    expect(types[typeOf(table, name)], `${at}.${column}`).toContain(found?.type)
    return found
  }
  for (const table of Object.keys(TABLES) as TableName[]) {
    if (table === 'session') continue
    const known = [
      ...columnsOf(table).map(([name]) => name),
      ...Object.keys(sums[table]),
      ...(own[table] ?? []),
    ]
    expect(Object.keys(tables[table] ?? {}).toSorted(), table).toEqual([...new Set(known)].toSorted())
    for (const [name, column] of columnsOf(table)) {
      // The number of the session instead of its id.
      if (name === 'session' && !isFree(table)) continue
      const found = expectColumn(table, name, table, name)
      expect(found?.isRequired, `${table}.${name}`).toBe(!('optional' in column))
    }
  }
  const parts = Object.entries(session)
  for (const [name] of columnsOf('session')) {
    const places = parts.flatMap(([at, columns]) =>
      columns[name] === undefined ? [] : [[at, columns[name]] as const],
    )
    expect(places, name).toHaveLength(1)
    for (const [at, column] of places) expectColumn('session', name, at, column)
  }
})
