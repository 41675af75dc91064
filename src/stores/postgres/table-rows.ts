import type { Row } from '../row.ts'
import { columnsOf, isFree, TABLES, type TableName } from '../tables.ts'
import { fromColumn } from './columns.ts'
import { exact, rowSum, sessionSum } from './session-sum.ts'
import { SUMS } from './sums.ts'

/**
 * The record has a table of its own, because a row of `session` is rewritten with every commit. A lost record leaves a
 * checksum that does not match.
 */
const COUNTERS = `t.id AS session, t.fence, t.owner, t.head, t.at, t.earliest,
  t.earliest_frame, t.journaled, t.queued, t.sum, ${sessionSum('t')} AS expected_sum`
const RECORD = `t.last_frame, t.frames, t.mapped, t.unmapped, t.malformed, t.oversized, r.principal, r.status, r.asking,
  r.body AS record, CASE WHEN t.recorded THEN coalesce(r.sum, -1) ELSE r.sum END AS record_sum`

/** The columns of a session that say who may write to it, and where log, journal and queue begin and end. */
export const SESSION_COUNTERS = `SELECT t.n, ${COUNTERS}, t.writes, t.inherited
  FROM @session t`

const AT_SUM = `, ${rowSum(['t.id', exact('t.at')])} AS expected_at_sum`

/** What a table has besides its columns and checksums. */
const MORE: Partial<Record<TableName, string>> = {
  receipt: AT_SUM,
  audit: AT_SUM,
  blob: ', t.bytes',
  // The order of commits.
  log: ', t.id',
}

/** Selects the columns and the checksums of a table `t`, with number and id of the session; `more` adds columns. */
export function selectOf(table: TableName, more = ''): string {
  if (table === 'session')
    return `SELECT coalesce(t.n, r.session) AS n, ${COUNTERS}, ${RECORD}${more}
      FROM @session t FULL JOIN @record r ON r.session = t.n`
  const names = [...Object.keys(TABLES[table].columns), ...Object.keys(SUMS[table])]
    .filter((name) => isFree(table) || name !== 'session')
    .map((name) => `t."${name}"`)
  const columns = `${names.join(', ')}${MORE[table] ?? ''}`
  if (isFree(table)) return `SELECT ${columns} FROM @${table} t`
  return `SELECT t.session AS n, s.id AS session, ${columns} FROM @${table} t
    LEFT JOIN @session s ON s.n = t.session`
}

/** The same row, with its names as they were given, and bytes that are equal to those of another database. */
export function namedRow(table: TableName, row: Row): Row {
  const named = { ...row }
  for (const [name, { type }] of columnsOf(table)) {
    const value = row[name]
    if (type === 'name' && typeof value === 'string') named[name] = fromColumn(value)
    if (value instanceof Uint8Array) named[name] = new Uint8Array(value)
  }
  return named
}
