import type { AuditFact } from '../../model/access.ts'
import type { AuditQuery, ValidTime } from '../access.ts'
import {
  type AccessTable,
  type AccessTables,
  type AuditRow,
  auditClauses,
  auditRow,
  IN_FORCE,
  type RowChange,
} from '../access-rows.ts'
import { storageFailed } from '../refusals.ts'
import { integer, type Row } from '../row.ts'
import { toColumn } from './columns.ts'
import type { Database, Query } from './database.ts'
import { NOW } from './leases.ts'
import { givenRows, insertOf, nowSql, Parameters } from './parameters.ts'
import { exact, namedRow, rowSum, SUMS, selectOf } from './table-rows.ts'

const CONSUME = `WITH old AS (DELETE FROM @used WHERE until < ${NOW})
  INSERT INTO @used (id, until) SELECT $2, $4::float8 WHERE ${NOW} >= $3::float8 AND ${NOW} < $4::float8
  ON CONFLICT DO NOTHING RETURNING 1 AS one`

/** Another server may have changed tokens and grants after this time. Notifications shorten the delay. */
const STALE_MS = 1_000

/**
 * Adds facts with the time of the database. `join` leaves out those of refused commits, each of which names in `of` the
 * session whose commit it belongs to.
 */
export function insertFacts(
  parameters: Parameters,
  facts: readonly (AuditRow & { of?: string })[],
  now: number | null,
  join = '',
): string {
  const given = givenRows(
    parameters,
    'audit',
    facts.map((fact) => ({ ...fact, at: 0 })),
  )
  // Computed once: the checksum covers the time that is stored.
  const from = `${given.from} ${join} CROSS JOIN (SELECT ${nowSql(parameters, now)} AS ms OFFSET 0) c`
  const timed = { at: 'c.ms', at_sum: rowSum(['g.id', exact('c.ms')]) }
  return `${insertOf('audit', given, from, timed)} ON CONFLICT (id) DO NOTHING`
}

/** Adds one fact in a transaction. */
export async function addFact(query: Query, fact: AuditFact, now: number | null): Promise<void> {
  const parameters = new Parameters()
  const sql = insertFacts(parameters, [auditRow(fact)], now)
  await query(sql, parameters.finish())
}

interface Cached {
  at: number
  rows: Promise<readonly Row[]>
}

/** Tokens, grants and the audit trail, which all servers of a database share. */
export class PostgresAccess implements AccessTables {
  readonly sums = SUMS
  readonly #database: Database
  readonly #now: () => number | null
  readonly #channel: string
  readonly #cached = new Map<AccessTable, Cached>()

  constructor(database: Database, now: () => number | null) {
    this.#database = database
    this.#now = now
    this.#channel = `${database.address.schema}_access`
    database.listener.subscribe(this.#channel, () => this.#cached.clear())
  }

  /** Reads again what is too old. */
  async rows(table: AccessTable): Promise<readonly Row[]> {
    const cached = this.#cached.get(table)
    if (cached && performance.now() - cached.at < STALE_MS) return cached.rows
    const rows = this.#read(table, `${selectOf(table)} ${IN_FORCE[table]}`)
    this.#cached.set(table, { at: performance.now(), rows })
    // A failed read is not kept.
    rows.catch(() => this.#cached.get(table)?.rows === rows && this.#cached.delete(table))
    return rows
  }

  async change(change: RowChange, fact: AuditFact): Promise<boolean> {
    const isChanged = await this.#write(async (query) => {
      // A connection that broke may have committed before.
      const [stored] = await query('SELECT FROM @audit WHERE id = $1', [fact.id])
      if (stored) return true
      const [clock = {}] = await query(`SELECT ${NOW} AS now`, [this.#now()])
      if (!(await applied(query, change, integer(clock, 'now')))) return false
      await addFact(query, fact, this.#now())
      return true
    })
    this.#cached.clear()
    // Sent after the commit. A server that does not get it reads again within a second.
    if (isChanged) this.#database.notify(this.#channel, ['changed']).catch(() => undefined)
    return isChanged
  }

  async now(): Promise<number> {
    const [clock = {}] = await this.#database.read(`SELECT ${NOW} AS now`, [this.#now()])
    return integer(clock, 'now')
  }

  async consume(id: string, { from, until }: ValidTime): Promise<boolean> {
    const values = [this.#now(), toColumn(id), from, until]
    return this.#write(async (query) => (await query(CONSUME, values)).length > 0)
  }

  async note(fact: AuditFact): Promise<void> {
    await this.#write((query) => addFact(query, fact, this.#now()))
  }

  trail(query: AuditQuery): Promise<Row[]> {
    const values: unknown[] = []
    const clauses = auditClauses(query, (value) => {
      values.push(typeof value === 'string' ? toColumn(value) : value)
      return `$${values.length}`
    })
    return this.#read('audit', `${selectOf('audit')} ${clauses}`, values)
  }

  async forgetAudit(ms: number): Promise<void> {
    const sql = `DELETE FROM @audit WHERE at < ${NOW} - $2::float8`
    await this.#write((query) => query(sql, [this.#now(), ms]))
  }

  async #read(table: AccessTable | 'audit', sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#database.read(sql, values)).map((row) => namedRow(table, row))
  }

  async #write<T>(work: (query: Query) => Promise<T>): Promise<T> {
    try {
      return await this.#database.persist(() => this.#database.transaction(0, work))
    } catch (thrown) {
      throw storageFailed('cannot write to the store', thrown)
    }
  }
}

/** Returns false if there is nothing to change. */
async function applied(query: Query, { table, key, next }: RowChange, at: number): Promise<boolean> {
  const where = `WHERE ${Object.keys(key)
    .map((name, index) => `t.${name} = $${index + 1}`)
    .join(' AND ')}`
  const place = Object.values(key).map((value) => toColumn(value))
  const [before] = await query(`${selectOf(table)} ${where} FOR UPDATE`, place)
  const row = next(before && namedRow(table, before), at)
  if (row === undefined) return false
  if (before) await query(`DELETE FROM @${table} t ${where}`, place)
  if (row === 'removed') return true
  const parameters = new Parameters()
  const given = givenRows(parameters, table, [row])
  const sql = insertOf(table, given, `${given.from} WHERE $1::bytea IS NOT NULL`)
  // Another server may have added the row meanwhile.
  return (await query(`${sql} ON CONFLICT DO NOTHING RETURNING 1 AS one`, parameters.finish())).length > 0
}
