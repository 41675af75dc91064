import type { AuditRecord, Grant } from '../../model/access.ts'
import type { AccessChange, AccessStore, AuditFact, AuditQuery, StoredToken } from '../access.ts'
import {
  type AuditRow,
  auditClauses,
  auditRecordIn,
  auditRow,
  grantsIn,
  rolesColumn,
  tokensIn,
} from '../access-rows.ts'
import { storageFailed } from '../refusals.ts'
import { integer, type Row } from '../row.ts'
import { sumOf, type TableRow } from '../tables.ts'
import { toColumn } from './columns.ts'
import type { Database, Query } from './database.ts'
import { NOW } from './leases.ts'
import { givenRows, insertOf, nowSql, Parameters, PIECE } from './parameters.ts'
import { exact, namedRow, rowSum, SUMS, selectOf } from './table-rows.ts'

/** Another server may have changed tokens and grants after this time. Notifications shorten the delay. */
const STALE_MS = 1_000

const FACTS = {
  id: 'text',
  fact: 'text',
  principal: 'text',
  action: 'text',
  session: 'text',
  sum: 'bigint',
  pos: 'int',
  bytes: 'int',
}

/**
 * Adds facts with the time of the database. Each names in `id` the session whose commit it belongs to; `join` leaves out
 * those of refused commits.
 */
export function insertFacts(
  parameters: Parameters,
  facts: readonly (AuditRow & { of?: string })[],
  now: number | null,
  join = '',
): string {
  const rows = facts.map(({ of = '', id, principal, action, session, body }) => ({
    ...{ id: of, fact: id, principal: toColumn(principal), action: toColumn(action) },
    session: session === null ? null : toColumn(session),
    sum: sumOf(SUMS.audit.sum, { id, principal, action, session, body }),
    ...parameters.piece(body),
  }))
  // Computed once for each row: its checksum covers the time that is stored.
  const timed = `SELECT f.*, ${nowSql(parameters, now)} AS at FROM ${parameters.rows('f', FACTS, rows)} ${join} OFFSET 0`
  return `INSERT INTO @audit (id, at, at_sum, principal, action, session, sum, body)
    SELECT a.fact, a.at, ${rowSum(['a.fact', exact('a.at')])}, a.principal, a.action, a.session, a.sum, ${PIECE.text('a')}
    FROM (${timed}) a ON CONFLICT (id) DO NOTHING`
}

/** Adds one fact in a transaction. */
export async function addFact(query: Query, fact: AuditFact, now: number | null): Promise<void> {
  const parameters = new Parameters()
  const sql = insertFacts(parameters, [auditRow(fact)], now)
  await query(sql, parameters.finish())
}

interface Cached<T> {
  at: number
  value: Promise<readonly T[]>
}

/** Tokens, grants and the audit trail, which all servers of a database share. */
export class PostgresAccess implements AccessStore {
  readonly #database: Database
  readonly #now: () => number | null
  readonly #channel: string
  #tokens: Cached<StoredToken> | undefined
  #grants: Cached<Grant> | undefined

  constructor(database: Database, now: () => number | null) {
    this.#database = database
    this.#now = now
    this.#channel = `${database.address.schema}_access`
    database.listener.subscribe(this.#channel, () => this.#forget())
  }

  async tokens(): Promise<readonly StoredToken[]> {
    this.#tokens = fresh(this.#tokens, async () => tokensIn(SUMS, await this.#rows('token')))
    return this.#tokens.value
  }

  async grants(): Promise<readonly Grant[]> {
    this.#grants = fresh(this.#grants, async () => grantsIn(SUMS, await this.#rows('permit')))
    return this.#grants.value
  }

  async change(change: AccessChange, fact: AuditFact): Promise<boolean> {
    const isChanged = await this.#write(async (query) => {
      // A connection that broke may have committed before.
      const [stored] = await query('SELECT FROM @audit WHERE id = $1', [fact.id])
      if (stored) return true
      const [clock = {}] = await query(`SELECT ${NOW} AS now`, [this.#now()])
      const added = { at: integer(clock, 'now'), added_by: fact.principal }
      if (!(await applied(query, change, added))) return false
      await addFact(query, fact, this.#now())
      return true
    })
    this.#forget()
    // Sent after the commit. A server that does not get it reads again within a second.
    if (isChanged) this.#database.notify(this.#channel, ['changed']).catch(() => undefined)
    return isChanged
  }

  async note(fact: AuditFact): Promise<void> {
    await this.#write((query) => addFact(query, fact, this.#now()))
  }

  async audit(query: AuditQuery): Promise<AuditRecord[]> {
    const values: unknown[] = []
    const clauses = auditClauses(query, (value) => {
      values.push(typeof value === 'string' ? toColumn(value) : value)
      return `$${values.length}`
    })
    const rows = await this.#database.read(`${selectOf('audit')} ${clauses}`, values)
    return rows.map((row) => auditRecordIn(SUMS, namedRow('audit', row)))
  }

  async forgetAudit(ms: number): Promise<void> {
    await this.#write((query) =>
      query(`DELETE FROM @audit WHERE at < ${NOW} - $2::float8`, [this.#now(), ms]),
    )
  }

  #forget(): void {
    this.#tokens = undefined
    this.#grants = undefined
  }

  async #rows(table: 'token' | 'permit'): Promise<Row[]> {
    return (await this.#database.read(selectOf(table))).map((row) => namedRow(table, row))
  }

  async #write<T>(work: (query: Query) => Promise<T>): Promise<T> {
    try {
      return await this.#database.persist(() => this.#database.transaction(0, work))
    } catch (thrown) {
      throw storageFailed('cannot write to the store', thrown)
    }
  }
}

/** Reads again what is too old. A failed read is not kept. */
function fresh<T>(cached: Cached<T> | undefined, read: () => Promise<readonly T[]>): Cached<T> {
  if (cached && performance.now() - cached.at < STALE_MS) return cached
  const value = read()
  const next = { at: performance.now(), value }
  value.catch(() => {
    next.at = Number.NEGATIVE_INFINITY
  })
  return next
}

/** Returns false if there is nothing to change. */
async function applied(
  query: Query,
  change: AccessChange,
  added: Pick<TableRow<'permit'>, 'at' | 'added_by'>,
): Promise<boolean> {
  switch (change.type) {
    case 'token.added': {
      const { name, digest, roles, onlyIfUnknown = false } = change
      const before = await lockedToken(query, name)
      if (before && (onlyIfUnknown || before.removed === null)) return false
      return insert(query, 'token', { name, digest, roles: rolesColumn(roles), ...added, removed: null })
    }
    case 'token.removed': {
      const before = await lockedToken(query, change.name)
      return before?.removed === null && insert(query, 'token', { ...before, removed: added.at })
    }
    case 'grant.added':
      return insert(query, 'permit', { grantee: change.to, principal: change.of, ...added })
    case 'grant.removed': {
      const sql = 'DELETE FROM @permit WHERE grantee = $1 AND principal = $2 RETURNING 1 AS one'
      return (await query(sql, [toColumn(change.to), toColumn(change.of)])).length > 0
    }
    default:
      return change satisfies never
  }
}

async function lockedToken(query: Query, name: string): Promise<Row | undefined> {
  const [row] = await query(`${selectOf('token')} WHERE t.name = $1 FOR UPDATE`, [toColumn(name)])
  return row && namedRow('token', row)
}

const REPLACED = ['digest', 'roles', 'at', 'added_by', 'removed', 'sum']
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')

/** Adds a row; a token replaces the one of its name, unless another server added that meanwhile. */
async function insert(query: Query, table: 'token' | 'permit', row: Row): Promise<boolean> {
  const parameters = new Parameters()
  const given = givenRows(parameters, table, [row])
  const conflict =
    table === 'token'
      ? `(name) DO UPDATE SET ${REPLACED} WHERE t.removed IS NOT NULL OR excluded.removed IS NOT NULL`
      : 'DO NOTHING'
  const statement = insertOf(table, given, `${given.from} WHERE $1::bytea IS NOT NULL`)
  const sql = `${statement.replace(`INSERT INTO @${table} `, `INSERT INTO @${table} AS t `)}
    ON CONFLICT ${conflict} RETURNING 1 AS one`
  return (await query(sql, parameters.finish())).length > 0
}
