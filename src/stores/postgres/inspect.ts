import { crc32 } from 'node:zlib'
import { type InspectSource, inspect, type StoreReport } from '../inspect.ts'
import { bytes, type Row, text } from '../row.ts'
import { TABLES, type TableName } from '../tables.ts'
import { toColumn } from './columns.ts'
import { Database, type Query } from './database.ts'
import { checkSchema } from './migrate.ts'
import { namedRow, SUMS, selectOf } from './table-rows.ts'

/** Rows that are read at a time. */
const PAGE = 200

/** Compares everything in a database with its checksums. Reads only, also while servers use it. */
export async function inspectPostgres(url: string): Promise<StoreReport> {
  await using database = await Database.open({ url })
  await checkSchema(database)
  return await database.transaction(0, async (query) => {
    // All statements see the database as it is now.
    await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    return inspect(new PostgresInspection(`PostgreSQL at ${database.address.shown}`, query))
  })
}

class PostgresInspection implements InspectSource {
  readonly file: string
  readonly sums = SUMS
  readonly #query: Query

  constructor(file: string, query: Query) {
    this.file = file
    this.#query = query
  }

  /** PostgreSQL compares the checksums of its pages itself, where they are enabled. */
  integrity(): string[] {
    return []
  }

  async *scan(table: TableName): AsyncGenerator<Row> {
    for await (const row of this.#rows(table)) {
      const named = namedRow(table, row)
      yield table === 'blob' ? { ...named, content: await this.#contentOf(named) } : named
    }
  }

  async *#rows(table: TableName): AsyncGenerator<Row> {
    const cursor = `scan_${table}`
    const order = TABLES[table].key.map((name) => (name === 'session' ? 'n' : `"${name}"`)).join(', ')
    await this.#query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${selectOf(table)} ORDER BY ${order}`)
    for (;;) {
      const rows = await this.#query(`FETCH ${PAGE} FROM ${cursor}`)
      yield* rows
      if (rows.length < PAGE) break
    }
    await this.#query(`CLOSE ${cursor}`)
  }

  /** The checksum of all parts; none if they are more or fewer than the blob has. */
  async #contentOf(blob: Row): Promise<number | undefined> {
    const id = toColumn(text(blob, 'id'))
    const [parts = {}] = await this.#query('SELECT count(*) AS count FROM @blob_part WHERE blob = $1', [id])
    const sql = 'SELECT body FROM @blob_part WHERE blob = $1 AND part = $2'
    let [length, content] = [0, 0]
    for (let part = 0; ; part++) {
      const [row] = await this.#query(sql, [id, part])
      const isWhole = length === blob.bytes && part === parts.count
      if (!row) return isWhole ? content : undefined
      length += bytes(row, 'body').length
      content = crc32(bytes(row, 'body'), content)
    }
  }
}
