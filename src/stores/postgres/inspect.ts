import { type InspectSource, inspect, type StoreReport } from '../inspect.ts'
import { type Row, text } from '../row.ts'
import { TABLES, type TableName } from '../tables.ts'
import { BlobRows, PART_BYTES } from './blobs.ts'
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
    const contents = new BlobRows(database, { read: query })
    return inspect(new PostgresInspection(`PostgreSQL at ${database.address.shown}`, query, contents))
  })
}

class PostgresInspection implements InspectSource {
  readonly file: string
  readonly sums = SUMS
  readonly #query: Query
  readonly #contents: Pick<BlobRows, 'contentOf'>

  constructor(file: string, query: Query, contents: Pick<BlobRows, 'contentOf'>) {
    this.file = file
    this.#query = query
    this.#contents = contents
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
    const { bytes, sum } = await this.#contents.contentOf(text(blob, 'id'))
    const isWhole = bytes === blob.bytes && Math.ceil(bytes / PART_BYTES) === parts.count
    return isWhole ? sum : undefined
  }
}
