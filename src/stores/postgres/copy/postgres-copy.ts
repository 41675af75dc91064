import {
  type CopySource,
  type CopyTarget,
  type CopyTotals,
  inUse,
  type TargetState,
} from '../../copy/copyable.ts'
import { damaged } from '../../refusals.ts'
import { integer, type Row, text } from '../../row.ts'
import type { TableName } from '../../tables.ts'
import { BlobRows } from '../blobs.ts'
import { fromColumn, toColumn } from '../columns.ts'
import { Database, type Reads } from '../database.ts'
import { cannotOpen, isLockTimeout } from '../failures.ts'
import { LIVE } from '../leases.ts'
import { checkSchema, prepareSchema } from '../migrate.ts'
import { INDEX_FROM_HERE } from '../search/word-index.ts'
import { DatabaseSnapshot } from './database-snapshot.ts'
import { lastKey, pagesAfter } from './read-table.ts'
import { addRows } from './write-table.ts'

const TOTALS = `SELECT (SELECT count(*) FROM @session) AS sessions,
  (SELECT coalesce(sum(last - first + 1), 0)::bigint FROM @log) AS entries`
const OPEN_TIME =
  'SELECT greatest((SELECT ms FROM @open_time), (SELECT coalesce(max(at), 0) FROM @receipt)) AS ms'
const USED = `SELECT EXISTS (SELECT FROM @session) OR EXISTS (SELECT FROM @receipt)
  OR EXISTS (SELECT FROM @spent) OR EXISTS (SELECT FROM @native)
  OR EXISTS (SELECT FROM @token) OR EXISTS (SELECT FROM @permit) OR EXISTS (SELECT FROM @audit) AS used`
const SETTINGS = "SELECT name, value FROM @setting WHERE name IN ('copy', 'copied')"
const SET = 'INSERT INTO @setting VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value'
const LOCK = "SELECT pg_advisory_xact_lock(hashtext('mainstem copy ' || $1))"
/** The server releases the lock of a copy that was killed as soon as it notices. */
const LOCK_MS = 5_000
const SUMMARISE = `SELECT brin_summarize_new_values(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname = 'log_id' AND pg_has_role(c.relowner, 'USAGE')`
const TABLES = [
  'log',
  'journal',
  'queued',
  'record',
  'blob_part',
  'blob',
  'receipt',
  'native',
  'spent',
  'token',
  'permit',
  'audit',
  'owner',
  'session',
]

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

class PostgresSource implements CopySource {
  readonly name: string
  protected readonly database: Database
  protected readonly blobs: BlobRows
  readonly #snapshot: DatabaseSnapshot | undefined

  constructor(database: Database, snapshot?: DatabaseSnapshot) {
    const { shown, schema } = database.address
    this.name = `PostgreSQL at ${shown}, schema ${schema}`
    this.database = database
    this.#snapshot = snapshot
    this.blobs = new BlobRows(database, snapshot)
  }

  get #reads(): Reads {
    return this.#snapshot ?? this.database
  }

  read(table: TableName, after?: Row): AsyncGenerator<Row[]> {
    return pagesAfter(this.#reads, table, after)
  }

  async totals(): Promise<CopyTotals> {
    const [row = {}] = await this.query(TOTALS)
    return { sessions: integer(row, 'sessions'), entries: integer(row, 'entries') }
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

  /** Statements that read a whole table take as long as they need. */
  protected query(sql: string): Promise<Row[]> {
    if (this.#snapshot) return this.#snapshot.read(sql)
    return this.database.persist(() => this.database.transaction(0, (query) => query(sql)))
  }
}

class PostgresTarget extends PostgresSource implements CopyTarget {
  #unlock: () => Promise<void> = async () => undefined

  last(table: TableName): Promise<Row | undefined> {
    return lastKey(this.database, table)
  }

  add(table: TableName, rows: readonly Row[]): Promise<void> {
    return addRows(this.database, table, rows)
  }

  /**
   * Keeps other copies out until the end. The lock belongs to a transaction and not to a connection, so that it works
   * through a pooler.
   */
  async lock(): Promise<void> {
    const closing = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const held = this.database.transaction(0, async (query) => {
      await query(`SET LOCAL lock_timeout = ${LOCK_MS}`)
      await query(LOCK, [this.database.address.schema])
      locked.resolve()
      await closing.promise
    })
    // A connection that breaks later is reported by the next statement of the copy.
    const ended = held.catch((thrown) => locked.reject(thrown))
    this.#unlock = async () => {
      closing.resolve()
      await ended
    }
    try {
      await locked.promise
    } catch (thrown) {
      if (!isLockTimeout(thrown)) throw cannotOpen(this.database.address, thrown)
      throw inUse(`another copy to ${this.name} is running`, 'Wait for its end, or stop it.')
    }
  }

  async state(): Promise<TargetState> {
    const settings = await this.database.read(SETTINGS)
    const unfinished = settings.find((row) => row.name === 'copy')
    const finished = settings.find((row) => row.name === 'copied')
    const [row] = await this.database.read(USED)
    return {
      ...(unfinished && { unfinished: text(unfinished, 'value') }),
      ...(finished && { finished: text(finished, 'value') }),
      isEmpty: row?.used === false,
    }
  }

  async begin(source: string): Promise<void> {
    await this.database.persist(() => this.database.write(SET, ['copy', source]))
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
        for (const table of TABLES) await query(`ANALYZE @${table}`)
      })
    await this.database.persist(complete)
  }

  async clear(): Promise<void> {
    await this.database.transaction(0, async (query) => {
      for (const table of TABLES) await query(`DELETE FROM @${table}`)
    })
  }

  async finish(source: string): Promise<void> {
    const finish = () =>
      this.database.transaction(0, async (query) => {
        await query("DELETE FROM @setting WHERE name = 'copy'")
        await query(SET, ['copied', source])
        // Copied rows have no transaction by which the index could find them.
        await query(INDEX_FROM_HERE)
      })
    await this.database.persist(finish)
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#unlock()
    await super[Symbol.asyncDispose]()
  }
}
