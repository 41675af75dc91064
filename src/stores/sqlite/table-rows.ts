import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Row } from '../row.ts'
import {
  columnsOf,
  coveredBy,
  deliveryStateSum,
  isFree,
  RECORD_COLUMNS,
  recordSum,
  type Sum,
  type Sums,
  sumOf,
  sumsBy,
  TABLES,
  type TableName,
} from '../tables.ts'

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
const RECORD = `${RECORD_COLUMNS.map((name) => `CASE WHEN s.record IS NOT NULL THEN s.${name} END AS ${name}`)},
  s.sum AS record_sum, coalesce(h.last, t.counted) AS last_frame, h.frames, h.mapped, h.unmapped, h.malformed, h.oversized,
  coalesce(h.sum, t.counted) AS heard_sum`

/** Selects the columns and the checksums of a table `t`, with number and id of the session; `more` adds columns. */
export function selectOf(table: TableName, more = ''): string {
  if (table === 'session')
    return `SELECT ${COUNTERS}, ${RECORD}${more} FROM session s LEFT JOIN heard h ON h.session = s.n ${ENDS}`
  const names = [...Object.keys(TABLES[table].columns), ...Object.keys(SUMS[table])]
    .filter((name) => isFree(table) || name !== 'session')
    .map((name) => `t.${name}`)
  if (isFree(table)) return `SELECT ${names.join(', ')}${more} FROM ${table} t`
  // CROSS JOIN would leave out rows without a session.
  return `SELECT t.session AS n, s.id AS session, ${names.join(', ')}${more} FROM ${table} t
    LEFT JOIN session s ON s.n = t.session`
}

/** The checksums of this database. A row contributes the number of its session, by which it is found. */
export const SUMS = {
  ...sumsBy('n'),
  session: {
    record_sum: recordSum('n', 'session'),
    edge_sum: { what: 'the beginning of the log', of: ['n', 'earliest', 'earliest_frame', 'queued'] },
    lease_sum: { what: 'the lease', of: ['n', 'fence', 'owner'] },
    tail_sum: { what: 'the end of the log', of: ['n', 'head', 'at', 'journaled', 'counted'], part: 'ends' },
    heard_sum: {
      what: 'the coverage',
      of: ['n', 'last_frame', 'frames', 'mapped', 'unmapped', 'malformed', 'oversized'],
      part: 'last_frame',
    },
  },
  /** `content` is the checksum of the file. */
  blob: { sum: { what: 'blob', of: ['n', 'content', 'id'] } },
  audit: { sum: { what: 'the audit trail', of: ['at', 'id', 'principal', 'action', 'session', 'body'] } },
  delivery: {
    sum: { what: 'a call of a webhook', of: ['at', 'webhook', 'id', 'session', 'principal', 'type'] },
    state_sum: deliveryStateSum,
  },
  receipt: { sum: { what: 'an idempotency key', of: ['at', 'id', 'session', 'body'] } },
} as const satisfies Sums

/** The columns of a row of the log or the journal that are read. */
export const rowColumns = (table: 'log' | 'journal') =>
  ['session AS n', ...coveredBy(SUMS[table].sum), 'sum'].join(', ')

/** The tables whose rows are the same in every database; a session is in three of them. */
type WholeTable = Exclude<TableName, 'session'>

/** Prepares the statement that adds a row with its checksums; `n` of the row is the number of its session. */
export function inserter(db: DatabaseSync, table: WholeTable, onConflict = ''): (row: Row) => void {
  const names = [...columnsOf(table).map(([name]) => name), ...Object.keys(SUMS[table])]
  const columns = {
    ...same(...names),
    ...(!isFree(table) && { session: 'n' }),
    // Ids of the log are given here, and never twice.
    ...(table === 'log' && { id: 'id' }),
  }
  const insert = insertInto(db, table, columns, onConflict)
  return (row) => insert(withSums(table, row))
}

/** The statements for the parts of a session. `n` of a row is its number. */
export function sessionStatements(db: DatabaseSync) {
  const summed = (write: (row: Row) => void) => (row: Row) => write(withSums('session', row))
  const insert = (table: string, columns: Readonly<Record<string, string>>) =>
    summed(insertInto(db, table, columns, '', table === 'session' ? 'INSERT' : 'INSERT OR REPLACE'))
  const update = (columns: Readonly<Record<string, string>>) => {
    const set = Object.keys(columns).map((name) => `${name} = ?`)
    const statement = db.prepare(`UPDATE session SET ${set.join(', ')} WHERE n = ?`)
    return summed((row) =>
      statement.run(...[...Object.values(columns), 'n'].map((name) => toInput(row[name]))),
    )
  }
  const lease = same('fence', 'owner', 'lease_sum')
  const edge = same('earliest', 'earliest_frame', 'queued', 'edge_sum')
  const counts = same('frames', 'mapped', 'unmapped', 'malformed', 'oversized')
  return {
    begin: insert('session', { n: 'n', id: 'session', ...edge, ...lease }),
    lease: update(lease),
    // An update, because the triggers that count sessions and native conversations follow updates.
    record: update({ ...same(...RECORD_COLUMNS), sum: 'record_sum' }),
    end: insert('tail', { session: 'n', ...same('head', 'at', 'journaled', 'counted'), sum: 'tail_sum' }),
    frameCounts: insert('heard', { session: 'n', last: 'last_frame', ...counts, sum: 'heard_sum' }),
  }
}

/** Prepares a statement that adds a row: each column has a value of the row with this name. */
export function insertInto(
  db: DatabaseSync,
  table: string,
  columns: Readonly<Record<string, string>>,
  onConflict = '',
  verb = 'INSERT',
): (row: Row) => void {
  const [names, values] = [Object.keys(columns), Object.values(columns)]
  const places = names.map(() => '?').join(', ')
  const statement = db.prepare(`${verb} INTO ${table} (${names.join(', ')}) VALUES (${places}) ${onConflict}`)
  return (row) => {
    statement.run(...values.map((name) => toInput(row[name])))
  }
}

/** Columns that have the names that they have in a row. */
export function same(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, name]))
}

/** The row with its checksums. A row has none of a part that it has not, or whose values are unknown. */
function withSums(table: TableName, row: Row): Row {
  const sums: Readonly<Record<string, Sum>> = SUMS[table]
  const summed: Record<string, unknown> = { ...row }
  for (const [column, sum] of Object.entries(sums)) {
    const isNone = sum.part !== undefined && row[sum.part] === null
    const isUnknown = sum.of.some((name) => row[name] === undefined)
    summed[column] = isNone || isUnknown ? null : sumOf(sum, row)
  }
  return summed
}

export function toInput(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'string' || typeof value === 'number' || value instanceof Uint8Array) return value
  return null
}
