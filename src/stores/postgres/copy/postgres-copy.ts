import { CopiedStore, type CopyStatements } from '../../copy/copied-store.ts'
import { type CopySource, type CopyTarget, inUse, PARTS } from '../../copy/copyable.ts'
import { damaged } from '../../refusals.ts'
import { integer, type Row, text } from '../../row.ts'
import type { TableName } from '../../tables.ts'
import { BlobRows } from '../blobs.ts'
import { fromColumn, toColumn } from '../columns.ts'
import { Database, type Query, type Reads } from '../database.ts'
import { cannotOpen, isLockTimeout } from '../failures.ts'
import { LIVE } from '../leases.ts'
import { checkSchema, prepareSchema } from '../migrate.ts'
import { INDEX_FROM_HERE } from '../search/word-index.ts'
import { namedRow, SUMS, selectOf } from '../table-rows.ts'
import { DatabaseSnapshot, openTransaction } from './database-snapshot.ts'
import { addRows } from './write-table.ts'

const OPEN_TIME =
  'SELECT greatest((SELECT ms FROM @open_time), (SELECT coalesce(max(at), 0) FROM @receipt)) AS ms'
const LOCK = "SELECT pg_advisory_xact_lock(hashtext('mainstem copy ' || $1))"
/** The server releases the lock of a copy that was killed as soon as it notices. */
const LOCK_MS = 5_000
const SUMMARISE = `SELECT brin_summarize_new_values(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname = 'log_id' AND pg_has_role(c.relowner, 'USAGE')`
/** Without those that belong to no copy. */
const OWN = ['record', 'blob_part', 'owner']

/**
 * Opens a store to copy it. It is not changed. Read `online`, everything is as it is now, while servers may go on
 * writing.
 */
export async function openPostgresSource(url: string, { online = false } = {}): Promise<CopySource> {
  const database = await Database.open({ url })
  try {
    await checkSchema(database)
    return new PostgresSource(database, online ? await DatabaseSnapshot.take(database) : undefined)
  } catch (thrown) {
    await database[Symbol.asyncDispose]()
    throw thrown
  }
}

/** Opens a store to copy another one into it; creates its tables where there are none. */
export async function openPostgresTarget(url: string): Promise<CopyTarget> {
  const database = await Database.open({ url })
  try {
    await prepareSchema(database, { durable: true, unfinished: true })
    const target = new PostgresTarget(database)
    await target.lock()
    return target
  } catch (thrown) {
    await database[Symbol.asyncDispose]()
    throw thrown
  }
}

function statementsOf(database: Database, reads: Reads): CopyStatements {
  const transaction = <T>(work: (query: Query) => Promise<T>) =>
    database.persist(() => database.transaction(0, work))
  return {
    ...{ sums: SUMS, number: 't.n', own: OWN, selectOf, toColumn, named: namedRow },
    lastCommit: 'SELECT last_value AS id FROM @log_id_seq',
    read: (sql, values) => reads.read(sql, values),
    readAll: (sql) => (reads === database ? transaction((query) => query(sql)) : reads.read(sql)),
    write: (statements) =>
      transaction(async (query) => {
        for (const [sql, values] of statements) await query(sql, values)
      }),
  }
}

class PostgresSource extends CopiedStore implements CopySource {
  readonly name: string
  protected readonly database: Database
  protected readonly blobs: BlobRows
  readonly #snapshot: DatabaseSnapshot | undefined

  constructor(database: Database, snapshot?: DatabaseSnapshot) {
    super(statementsOf(database, snapshot ?? database))
    const { shown, schema } = database.address
    this.name = `PostgreSQL at ${shown}, schema ${schema}`
    this.database = database
    this.#snapshot = snapshot
    this.blobs = new BlobRows(database, snapshot)
  }

  get #reads(): Reads {
    return this.#snapshot ?? this.database
  }

  async *readBlob(id: string): AsyncGenerator<Uint8Array> {
    const [row] = await this.#reads.read('SELECT bytes FROM @blob WHERE id = $1', [toColumn(id)])
    if (!row) throw damaged(`blob ${id}`)
    yield* this.blobs.read({ id, bytes: integer(row, 'bytes') })
  }

  async openTime(): Promise<number> {
    const [row = {}] = await this.#reads.read(OPEN_TIME)
    return integer(row, 'ms')
  }

  async checkIdle(): Promise<void> {
    if (this.#snapshot) return
    const live = await this.database.read(LIVE, [null])
    const [row] = live
    if (!row) return
    const names = live.map((one) => fromColumn(text(one, 'name'))).join(', ')
    throw inUse(
      `a server has ${this.name} open: ${names}`,
      `Stop every server first. One that was killed counts as running for ${integer(row, 'seconds')} s more.`,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#snapshot?.[Symbol.asyncDispose]()
    await this.database[Symbol.asyncDispose]()
  }
}

class PostgresTarget extends PostgresSource implements CopyTarget {
  #unlock: () => Promise<void> = async () => undefined

  add(table: TableName, rows: readonly Row[]): Promise<void> {
    return addRows(this.database, table, rows)
  }

  /**
   * Keeps other copies out until the end. The lock belongs to a transaction and not to a connection, so that it works
   * through a pooler.
   */
  async lock(): Promise<void> {
    try {
      const { end } = await openTransaction(this.database, async (query) => {
        await query(`SET LOCAL lock_timeout = ${LOCK_MS}`)
        await query(LOCK, [this.database.address.schema])
      })
      this.#unlock = end
    } catch (thrown) {
      if (!isLockTimeout(thrown)) throw cannotOpen(this.database.address, thrown)
      throw inUse(`another copy to ${this.name} is running`, 'Wait for its end, or stop it.')
    }
  }

  override async begin(source: string): Promise<void> {
    await super.begin(source)
    // A server that opened the store before the mark was there is registered now.
    await this.checkIdle()
  }

  writeBlob(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    return this.blobs.copy(id, content)
  }

  async complete(openTime: number): Promise<void> {
    const { schema } = this.database.address
    const complete = () =>
      this.database.transaction(0, async (query) => {
        await query('UPDATE @open_time SET ms = greatest(ms, $1::float8)', [openTime])
        // New rows are not in the index by ranges yet: every read in the order of commits would scan all of them.
        await query(SUMMARISE, [schema])
        for (const table of [...PARTS, ...OWN]) await query(`ANALYZE @${table}`)
      })
    await this.database.persist(complete)
  }

  /** Copied rows have no transaction by which the index could find them. */
  override async finish(source: string): Promise<void> {
    await this.database.persist(() => this.database.write(INDEX_FROM_HERE))
    await super.finish(source)
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#unlock()
    await super[Symbol.asyncDispose]()
  }
}
