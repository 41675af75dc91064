import { postgresStore } from '../../src/stores/postgres.ts'
import { newSchema, query } from './database.ts'

interface Schema {
  url: string
  /** Statements that make it empty again. */
  clear: string
}

/** Schemas for tests that need an empty store each. Creating its 75 tables and indexes takes longer than most tests. */
export class EmptySchemas {
  readonly #free: Schema[] = []
  readonly #used: Schema[] = []

  /** The URL of a schema with an empty store, which no other test uses until `release`. */
  async next(): Promise<string> {
    const known = this.#free.pop()
    if (known) await query(known.url, known.clear)
    const schema = known ?? (await create())
    this.#used.push(schema)
    return schema.url
  }

  /** Every store is closed: the next tests may use their schemas. */
  release(): void {
    this.#free.push(...this.#used.splice(0))
  }
}

/** Keeps a copy of each table that has rows from the start. */
async function create(): Promise<Schema> {
  const url = await newSchema()
  await (await postgresStore({ url, search: false }))[Symbol.asyncDispose]()
  const sql = "SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> 'migration'"
  const statements: string[] = []
  for (const { name } of await query(url, sql, [new URL(url).searchParams.get('schema')])) {
    statements.push(`DELETE FROM @${name}`)
    const [row] = await query(url, `SELECT FROM @${name} LIMIT 1`)
    if (!row) continue
    await query(url, `CREATE TABLE @kept_${name} AS SELECT * FROM @${name}`)
    statements.push(`INSERT INTO @${name} OVERRIDING SYSTEM VALUE SELECT * FROM @kept_${name}`)
  }
  return { url, clear: statements.join(';') }
}
