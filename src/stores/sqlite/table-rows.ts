import { isFree, TABLES, type TableName } from '../tables.ts'
import { SUMS } from './sums.ts'

/**
 * The columns of a session are in three tables, because those that change with every commit share few pages. A lost row
 * of one of them leaves a checksum that does not match. Logs of older versions end with their last row. `log_last` is the
 * end of the rows of the log.
 */
const COUNTERS = `s.n, s.id AS session, s.fence, s.owner, s.lease_sum, s.earliest, s.earliest_frame, s.queued, s.edge_sum,
  t.head AS ends, coalesce(t.head, l.last, 0) AS head, coalesce(t.at, l.at, 0) AS at, t.journaled, t.counted,
  CASE WHEN t.head IS NULL AND l.sum IS NOT NULL THEN -1 ELSE t.sum END AS tail_sum, l.last AS log_last`
const ENDS = `LEFT JOIN tail t ON t.session = s.n
  LEFT JOIN log l ON l.session = s.n AND l.first = (SELECT max(first) FROM log WHERE session = s.n)`

/** The columns of a session that say who may write to it, and where log, journal and queue begin and end. */
export const SESSION_COUNTERS = `SELECT ${COUNTERS} FROM session s ${ENDS}`

/** A record that is lost leaves its checksum. */
const RECORD = `s.principal, s.status, CASE WHEN s.record IS NOT NULL THEN s.asking END AS asking, s.record,
  s.sum AS record_sum, coalesce(h.last, t.counted) AS last_frame, h.frames, h.mapped, h.unmapped, h.malformed, h.oversized,
  coalesce(h.sum, t.counted) AS heard_sum`

/** Selects the columns and the checksums of a table `t`, with number and id of the session; `more` adds columns. */
export function selectOf(table: TableName, more = ''): string {
  if (table === 'session')
    return `SELECT ${COUNTERS}, ${RECORD}${more} FROM session s LEFT JOIN heard h ON h.session = s.n ${ENDS}`
  const names = [...Object.keys(TABLES[table].columns), ...Object.keys(SUMS[table])]
    .filter((name) => isFree(table) || name !== 'session')
    .map((name) => `t.${name}`)
  if (isFree(table)) return `SELECT ${names.join(', ')} FROM ${table} t`
  // CROSS JOIN would leave out rows without a session.
  return `SELECT t.session AS n, s.id AS session, ${names.join(', ')} FROM ${table} t
    LEFT JOIN session s ON s.n = t.session`
}

/** The columns of `selectOf` by which the rows of a table are in order, the same in every database. */
export const ORDER: Readonly<Record<TableName, readonly string[]>> = {
  session: ['s.n'],
  log: ['t.id'],
  journal: ['t.session', 't.id'],
  queued: ['t.session', 't.turn'],
  blob: ['t.session', 't.id'],
  receipt: ['t.id'],
  native: [],
  spent: [],
  token: [],
  permit: [],
  audit: ['t.id'],
}
