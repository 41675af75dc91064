import { cpSync, rmSync } from 'node:fs'
import type { SQLInputValue } from 'node:sqlite'
import pg from 'pg'
import { vi } from 'vitest'
import { typesOf } from '../../src/stores/postgres/columns.ts'
import { inspectPostgres } from '../../src/stores/postgres/inspect.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import { inspectStore } from '../../src/stores/sqlite/inspect.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { newSchema } from '../postgres/database.ts'
import { type Damageable, damageContract, type SqlValue } from './contract-damage.ts'
import { addNewer, changedCopy, fill, filledStore } from './damage.ts'
import { database } from './sqlite-parts.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const ACCESS = ['token', 'permit', 'webhook', 'delivery', 'audit']

damageContract('sqlite', async (): Promise<Damageable> => {
  const { directory, blobs } = await filledStore()
  const copy = changedCopy(directory, () => undefined)
  const run = (sql: string, values: SqlValue[] = []) => {
    const db = database(copy)
    try {
      return db.prepare(sql).all(...values.map(toInput))
    } finally {
      db.close()
    }
  }
  const tables = ['session', 'tail', 'heard', 'log', 'journal', 'queued', 'receipt', 'blob']
  const columns = (table: string) => run(`SELECT name FROM pragma_table_info('${table}')`).map(nameIn)
  const key = (table: string) => (table === 'receipt' || table === 'blob' ? 'id' : 'rowid')
  const use: Damageable['use'] = async (work) => {
    await using store = await sqliteStore({ directory: copy, durability: 'process' })
    return await work(store)
  }
  return {
    isQuick: true,
    blobs,
    tables: Object.fromEntries(tables.map((table) => [table, columns(table)])),
    accessTables: Object.fromEntries(ACCESS.map((table) => [table, columns(table)])),
    values: async (table, column) =>
      run(`SELECT ${key(table)} AS k, ${column} AS v FROM ${table} ORDER BY k`).map(valueIn),
    change: async (table, column, row, value) => {
      const sql = `UPDATE OR IGNORE ${table} SET ${column} = ? WHERE ${key(table)} = ? RETURNING 1`
      return run(sql, [value, row]).length === 1
    },
    remove: async (table, row) => {
      run(`DELETE FROM ${table} WHERE ${key(table)} = ?`, [row])
    },
    repeat: async (table, row, column, value) => {
      const names = columns(table).filter(
        (name) => name !== 'id' || key(table) === 'id' || table === 'session',
      )
      const copied = names.map((name) => (name === column ? '?' : name))
      const sql = `INSERT OR IGNORE INTO ${table} (${names.join(', ')}) SELECT ${copied.join(', ')} FROM ${table}
        WHERE ${key(table)} = ? RETURNING 1`
      return run(sql, [value, row]).length === 1
    },
    use,
    fresh: use,
    inspect: () => inspectStore(copy),
    restore: async () => {
      rmSync(copy, { recursive: true })
      cpSync(directory, copy, { recursive: true })
    },
    [Symbol.asyncDispose]: async () => {
      rmSync(copy, { recursive: true })
      rmSync(directory, { recursive: true })
    },
  }
})

damageContract('postgres', async (): Promise<Damageable> => {
  const url = await newSchema()
  const blobs = await postgresStore({ url }).then(async (store) => {
    await using filling = store
    const blobs = await fill(filling)
    await addNewer(filling)
    return blobs
  })
  const { href, schema } = serverOf(url)
  const client = new pg.Client({ connectionString: href, types: typesOf(pg.types) })
  await client.connect()
  const run = async (sql: string, values: SqlValue[] = []) =>
    (await client.query(sql.replaceAll(/@(?=[a-z])/g, `"${schema}".`), values)).rows
  const isDone = (work: Promise<unknown[]>) =>
    work.then(
      ({ length }) => length === 1,
      () => false,
    )
  const names = ['session', 'record', 'log', 'journal', 'queued', 'receipt', 'blob', 'blob_part']
  const tables: Record<string, string[]> = {}
  const accessTables: Record<string, string[]> = {}
  for (const table of [...names, ...ACCESS]) {
    const sql = `SELECT column_name AS name FROM information_schema.columns
      WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position`
    const columns = (await run(sql, [schema, table])).map(nameIn)
    if (ACCESS.includes(table)) accessTables[table] = columns
    else tables[table] = columns
    await run(`CREATE TABLE @kept_${table} AS SELECT * FROM @${table}`)
  }
  // It has written nothing, so it has nothing in memory.
  const reading = await postgresStore({ url })
  return {
    isQuick: false,
    blobs,
    tables,
    accessTables,
    values: async (table, column) =>
      (await run(`SELECT ctid::text AS k, "${column}" AS v FROM @${table} ORDER BY 1`)).map(valueIn),
    change: (table, column, row, value) =>
      isDone(run(`UPDATE @${table} SET "${column}" = $1 WHERE ctid = $2::tid RETURNING 1`, [value, row])),
    remove: async (table, row) => {
      await run(`DELETE FROM @${table} WHERE ctid = $1::tid`, [row])
    },
    repeat: (table, row, column, value) => {
      const all = tables[table] ?? []
      const copied = all.map((name) => (name === column ? '$1' : `"${name}"`))
      const quoted = all.map((name) => `"${name}"`)
      const sql = `INSERT INTO @${table} (${quoted.join(', ')}) OVERRIDING SYSTEM VALUE
        SELECT ${copied.join(', ')} FROM @${table} WHERE ctid = $2::tid RETURNING 1`
      return isDone(run(sql, [value, row]))
    },
    use: (work) => work(reading),
    fresh: async (work) => {
      await using store = await postgresStore({ url })
      return await work(store)
    },
    inspect: () => inspectPostgres(url),
    restore: async (table) => {
      await run(`DELETE FROM @${table}`)
      await run(`INSERT INTO @${table} OVERRIDING SYSTEM VALUE SELECT * FROM @kept_${table}`)
    },
    [Symbol.asyncDispose]: async () => {
      await reading[Symbol.asyncDispose]()
      await client.end()
    },
  }
})

function serverOf(url: string): { href: string; schema: string } {
  const server = new URL(url)
  const schema = server.searchParams.get('schema') ?? ''
  server.search = ''
  return { href: server.href, schema }
}

const nameIn = ({ name }: Record<string, unknown>) => String(name)
const valueIn = ({ k, v }: Record<string, unknown>) => ({ row: k as SqlValue, value: v as SqlValue })
const toInput = (value: SqlValue): SQLInputValue => (typeof value === 'boolean' ? Number(value) : value)
