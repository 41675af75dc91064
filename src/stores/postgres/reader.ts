import { FAILED_OUTCOMES } from '../../model/outcome/is-failed.ts'
import {
  type Bounds,
  QUEUE,
  queuedRow,
  type RowPage,
  type RowSource,
  type SessionPageQuery,
  type SessionRows,
  type TypedPage,
} from '../log-store/rows.ts'
import { integer, type Row } from '../row.ts'
import type { TypeQuery } from '../store.ts'
import { coveredBy, type TableName } from '../tables.ts'
import { toColumn } from './columns.ts'
import type { Database } from './database.ts'
import { IS_OTHERS } from './leases.ts'
import { INDEXED, kinds, namedRow, SESSION_COUNTERS, SUMS, selectOf } from './table-rows.ts'

const LOG_COLUMNS = coveredBy(SUMS.log.sum)
const JOURNAL_COLUMNS = coveredBy(SUMS.journal.sum)
/** The columns of a row, in the statements below. */
const of = (alias: string, columns: readonly string[]) =>
  [...columns, 'row_sum'].map((name) => `${alias}.${name}`).join(', ')

/** The rows of a log with the entries after `$2`, up to `$3` of them. */
const ROWS = `SELECT ${LOG_COLUMNS}, sum AS row_sum, octet_length(body) AS bytes,
    sum(octet_length(body)) OVER (ORDER BY first) - octet_length(body) AS before
  FROM @log WHERE session = s.n AND first <= $2::bigint + $3::bigint AND first >=
    coalesce((SELECT max(first) FROM @log WHERE session = s.n AND first <= $2::bigint + 1), 0)`

/** Up to `$4` bytes; always the first row. */
const FITS = 'before = 0 OR before + bytes <= $4::bigint'

/** Once for a statement, and not for each of its rows. */
const COUNTERS = `WITH s AS MATERIALIZED (${SESSION_COUNTERS} WHERE t.id = $1)`

const LOG = `${COUNTERS} SELECT s.*, ${of('l', LOG_COLUMNS)} FROM s
  LEFT JOIN LATERAL (SELECT * FROM (${ROWS}) x WHERE ${FITS}) l ON s.head > $2::bigint ORDER BY l.first`

const LOG_SIZE = `SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM @session s,
  LATERAL (SELECT * FROM (${ROWS}) x WHERE ${FITS}) l WHERE s.id = $1 AND s.head > $2::bigint`

const JOURNAL = `${COUNTERS} SELECT s.*, (SELECT max(last) FROM @journal WHERE session = s.n) AS kept,
  ${of('j', JOURNAL_COLUMNS)} FROM s
  LEFT JOIN LATERAL (SELECT * FROM (
    SELECT ${JOURNAL_COLUMNS}, sum AS row_sum, octet_length(body) AS bytes,
      sum(octet_length(body)) OVER (ORDER BY last) - octet_length(body) AS before
    FROM @journal WHERE session = s.n AND last > $2::bigint ORDER BY last LIMIT $3::bigint) x
  WHERE ${FITS}) j ON true ORDER BY j.last`

/** Rows by the types of their entries: `$3` are the types, `$4` the last entry. The text of rows that fit is read. */
const TYPED = `WITH RECURSIVE s AS MATERIALIZED (${SESSION_COUNTERS} WHERE t.id = $1),
  start AS MATERIALIZED (SELECT coalesce(max(l.first), 0) AS first FROM @log l, s
    WHERE l.session = s.n AND l.first <= $2::bigint + 1),
  ${kinds('l.session = s.n AND', 's')},
  hit AS (SELECT h.first FROM s, start, kind, LATERAL (SELECT l.first FROM @log l
      WHERE l.session = s.n AND ${INDEXED} AND l.types = kind.types AND l.first >= start.first AND l.first <= $4::bigint
      ORDER BY l.first LIMIT $5::bigint) h
    WHERE string_to_array(kind.types, ' ') && $3::text[] ORDER BY h.first LIMIT $5::bigint)
  SELECT s.*, x.*, (SELECT min(l.first) FROM @log l, start WHERE l.session = s.n AND ${INDEXED}
      AND l.types IS NULL AND l.first >= start.first) AS unknown
  FROM s LEFT JOIN LATERAL (SELECT ${LOG_COLUMNS.filter((name) => name !== 'body').map((name) => `l.${name}`)}, l.sum AS row_sum,
      CASE WHEN sum(octet_length(l.body)) OVER (ORDER BY l.first) <= $6::bigint THEN l.body END AS body
    FROM hit JOIN @log l ON l.session = s.n AND l.first = hit.first) x ON true ORDER BY x.first`

const SIZE = `(octet_length(r.body)
  + coalesce((SELECT sum(octet_length(q.body)) FROM @queued q WHERE q.session = s.n), 0))::float8`

/** With the queue in the same statement, so that both are of the same commit. */
const SESSION = selectOf(
  'session',
  `, coalesce((SELECT json_agg(json_build_array(${QUEUE.map((name) => `q.${name}`)}) ORDER BY q.turn)
    FROM @queued q WHERE q.session = t.n), '[]') AS queue`,
)

/** Not an index: it would be written with every change of a record. */
const FAILED = `(r.status <> 'busy'
  AND coalesce(r.body::json ->> 'lastOutcome' IN (${FAILED_OUTCOMES.map((one) => `'${one}'`).join(', ')}), false))`

/** Reads the rows of a database. */
export class PostgresReader implements RowSource {
  readonly sums = SUMS
  readonly #database: Database
  readonly #now: () => number | null

  constructor(database: Database, now: () => number | null) {
    this.#database = database
    this.#now = now
  }

  counters(sessions: readonly string[]): Promise<Row[]> {
    return this.#read('session', `${SESSION_COUNTERS} WHERE t.id = ANY($1::text[])`, [sessions.map(toColumn)])
  }

  async log(session: string, bounds: Bounds): Promise<RowPage | undefined> {
    const all = await this.#database.read(LOG, valuesOf(session, bounds))
    return pageOf(session, all)
  }

  async typed(session: string, query: TypeQuery): Promise<TypedPage | undefined> {
    const { types, after, last, limit, maxBytes } = query
    const values = [toColumn(session), after, [...types], last, limit, maxBytes]
    const page = pageOf(session, await this.#database.read(TYPED, values))
    if (!page) return undefined
    const { counters, rows } = page
    const { unknown } = counters
    const large = rows.find(({ body }) => body === null)
    // Rows after the limit, without a text, or of unknown types are left out.
    const ends = [
      last,
      ...(typeof unknown === 'number' ? [unknown - 1] : []),
      ...(large
        ? [integer(large, 'first') - 1]
        : rows.length === limit
          ? [integer(rows.at(-1) ?? {}, 'last')]
          : []),
    ]
    const end = Math.max(after, Math.min(...ends))
    return { counters, rows: rows.filter((row) => row.body !== null && integer(row, 'first') <= end), end }
  }

  async logSize(session: string, bounds: Bounds): Promise<number> {
    const [row] = await this.#database.read(LOG_SIZE, valuesOf(session, bounds))
    return integer(row ?? {}, 'bytes')
  }

  async journal(session: string, bounds: Bounds): Promise<RowPage | undefined> {
    const all = await this.#database.read(JOURNAL, valuesOf(session, bounds))
    const page = pageOf(session, all)
    if (!page) return undefined
    const { counters } = page
    const kept = counters.kept === null ? integer(counters, 'earliest_frame') - 1 : integer(counters, 'kept')
    return { ...page, kept }
  }

  async session(session: string): Promise<SessionRows | undefined> {
    const [row] = await this.#read('session', `${SESSION} WHERE t.id = $1`, [toColumn(session)])
    return row && withQueue(row)
  }

  async sessions(page: SessionPageQuery): Promise<SessionRows[]> {
    const { principals, status, asking, queued, failed, acquirableBy, before, below, limit, room } = page
    // The first two are those of the leases.
    const values: unknown[] = [this.#now(), acquirableBy === undefined ? null : toColumn(acquirableBy)]
    const where = ['($1::float8 IS NULL OR $2::text IS NULL OR true)']
    const add = (condition: string, value: unknown) => where.push(`${condition} $${values.push(value)}`)
    if (principals) {
      const names = principals.map((one) => toColumn(one))
      where.push(`r.principal = ANY ($${values.push(names)}::text[])`)
    }
    if (status !== undefined) add('r.status =', status)
    if (asking !== undefined) where.push(asking ? 'r.asking' : 'NOT r.asking')
    if (queued !== undefined)
      where.push(`${queued ? '' : 'NOT '}EXISTS (SELECT FROM @queued q WHERE q.session = r.session)`)
    if (failed !== undefined) where.push(failed ? FAILED : `NOT ${FAILED}`)
    if (acquirableBy !== undefined) where.push(`NOT (${IS_OTHERS})`)
    if (below !== undefined) add('r.session <', below)
    else if (before !== undefined) {
      const older = `coalesce((SELECT n FROM @session WHERE id = $${values.push(toColumn(before))}), 9223372036854775807)`
      where.push(`r.session < ${older}`)
    }
    const chosen = `SELECT r.session, ${SIZE} AS size FROM @record r JOIN @session s ON s.n = r.session
      WHERE ${where.join(' AND ')} ORDER BY r.session DESC LIMIT $${values.push(limit)}`
    const sums = `SELECT session, sum(size) OVER (ORDER BY session DESC) - size AS before FROM (${chosen}) p`
    const fitting = `SELECT session FROM (${sums}) x WHERE before <= $${values.push(room)}`
    const sql = `${SESSION} WHERE t.n IN (${fitting}) ORDER BY t.n DESC`
    return (await this.#read('session', sql, values)).map(withQueue)
  }

  async queued(session: string, turn: number): Promise<Row | undefined> {
    const sql = `${selectOf('queued')} WHERE s.id = $1 AND t.turn = $2`
    return (await this.#read('queued', sql, [toColumn(session), turn]))[0]
  }

  async receipt(id: string): Promise<Row | undefined> {
    return (await this.#read('receipt', `${selectOf('receipt')} WHERE t.id = $1`, [id]))[0]
  }

  counts(): Promise<Row[]> {
    return this.#database.read('SELECT status, count(*) AS sessions FROM @record GROUP BY status')
  }

  natives(id: string): Promise<Row[]> {
    return this.#read('native', 'SELECT principal FROM @native WHERE id = $1', [toColumn(id)])
  }

  spent(principal?: string): Promise<Row[]> {
    const sql = 'SELECT * FROM @spent WHERE $1::text IS NULL OR principal = $1'
    return this.#read('spent', sql, [principal === undefined ? null : toColumn(principal)])
  }

  async #read(table: TableName, sql: string, values: readonly unknown[]): Promise<Row[]> {
    return (await this.#database.read(sql, values)).map((row) => namedRow(table, row))
  }
}

function valuesOf(session: string, { after, limit, maxBytes }: Bounds): unknown[] {
  return [toColumn(session), after, limit, maxBytes]
}

/** Every row has the counters of the session; without a row of the log or journal there is one that has only these. */
function pageOf(session: string, all: readonly Row[]): RowPage | undefined {
  const [counters] = all
  const rows = all.flatMap((row) => (row.last === null ? [] : { ...row, session, sum: row.row_sum }))
  return counters && { counters: { ...counters, session }, rows }
}

function withQueue({ queue, ...row }: Row): SessionRows {
  const { session } = row
  const prompts: readonly unknown[] = Array.isArray(queue) ? queue : []
  const rows = prompts.map((prompt) => queuedRow({ session }, Array.isArray(prompt) ? prompt : []))
  return { row, queue: rows }
}
