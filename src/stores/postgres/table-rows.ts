import { damaged } from '../refusals.ts'
import type { Row } from '../row.ts'
import {
  columnsOf,
  deliveryStateSum,
  isFree,
  RECORD_COLUMNS,
  recordSum,
  type Sums,
  sumsBy,
  TABLES,
  type TableName,
} from '../tables.ts'
import { fromColumn } from './columns.ts'

/** What is known of the frames of a session. */
export const FRAME_COUNTS = ['last_frame', 'frames', 'mapped', 'unmapped', 'malformed', 'oversized'] as const

/** Everything in a row of `session` that is read, in the order of the checksum. */
const COVERED = [
  'id',
  'fence',
  'owner',
  'writes',
  'inherited',
  'head',
  'at',
  'earliest',
  'earliest_frame',
  'journaled',
  'queued',
  'recorded',
  ...FRAME_COUNTS,
] as const

type Covered = (typeof COVERED)[number]

/** A checksum of values that the database itself computes. The text of a row does not depend on settings. */
export function rowSum(values: readonly string[]): string {
  return `('x' || left(encode(sha256(convert_to(ROW(${values.join(', ')})::text, 'UTF8')), 'hex'), 8))::bit(32)::bigint`
}

/** Without the setting `extra_float_digits`, on which the text of a number depends. */
export const exact = (number: string) => `(${number})::numeric`

/** The checksum of a session: of its row, with these columns changed. */
export function sessionSum(row: string, changed: Partial<Record<Covered, string>> = {}): string {
  const values = COVERED.map((column) => {
    const value = changed[column] ?? `${row}.${column}`
    return column === 'at' ? exact(value) : value
  })
  return rowSum(values)
}

/** Whether the row of a session matches its checksum. A row of an older version has none. */
export const isIntact = (row: string) => `(${row}.sum IS NULL OR ${row}.sum = ${sessionSum(row)})`

/** Throws if a row was read with `isIntact` as `intact`, and is not. */
export function checkSession(session: string, { intact }: Row): void {
  if (intact !== true) throw damaged(COUNTERS, { session })
}

/** What is damaged where the checksum of a session does not match. */
export const COUNTERS = 'the counters'

/**
 * The checksums of this database. A row contributes the id of its session, because the database assigns the number of the
 * session in the statement that adds the row.
 */
export const SUMS = {
  ...sumsBy('session'),
  session: {
    sum: { what: COUNTERS, of: ['expected_sum'], isComputed: true },
    record_sum: recordSum('session'),
  },
  /** `content` is the checksum of the parts. A blob is stored before an entry refers to it, which makes it a session's. */
  blob: {
    sum: { what: 'blob', of: ['bytes', 'content', 'id'] },
    owner_sum: { what: 'blob', of: ['session', 'id'], part: 'n' },
  },
  /** The database decides when a key was stored. */
  receipt: {
    sum: { what: 'an idempotency key', of: ['id', 'session', 'body'] },
    at_sum: { what: 'an idempotency key', of: ['expected_at_sum'], isComputed: true },
  },
  /** The database decides which webhooks are called. */
  delivery: {
    sum: { what: 'a call of a webhook', of: ['expected_sum'], isComputed: true },
    state_sum: deliveryStateSum,
  },
  /** The database decides when a row was stored. */
  audit: {
    sum: { what: 'the audit trail', of: ['id', 'principal', 'action', 'session', 'body'] },
    at_sum: { what: 'the audit trail', of: ['expected_at_sum'], isComputed: true },
  },
} as const satisfies Sums

/**
 * The record has a table of its own, because a row of `session` is rewritten with every commit. A lost record leaves a
 * checksum that does not match.
 */
const SESSION = `t.id AS session, t.fence, t.owner, t.head, t.at, t.earliest,
  t.earliest_frame, t.journaled, t.queued, t.sum, ${sessionSum('t')} AS expected_sum`
const RECORD = `${FRAME_COUNTS.map((name) => `t.${name}`)},
  ${RECORD_COLUMNS.map((name) => (name === 'record' ? 'r.body AS record' : `r.${name}`))},
  CASE WHEN t.recorded THEN coalesce(r.sum, -1) ELSE r.sum END AS record_sum`

/** The columns of a session that say who may write to it, and where log, journal and queue begin and end. */
export const SESSION_COUNTERS = `SELECT t.n, ${SESSION}, t.writes, t.inherited
  FROM @session t`

const AT_SUM = `, ${rowSum(['t.id', exact('t.at')])} AS expected_at_sum`

/** The checksum of a call in a row with these values. */
export const deliverySum = (row: string, webhook = `${row}.webhook`) =>
  rowSum([webhook, `${row}.id`, `${row}.session`, `${row}.principal`, `${row}.type`, exact(`${row}.at`)])

/** What a table has besides its columns and checksums. */
const MORE: Partial<Record<TableName, string>> = {
  receipt: AT_SUM,
  audit: AT_SUM,
  delivery: `, ${deliverySum('t')} AS expected_sum`,
  blob: ', t.bytes',
}

/** Selects the columns and the checksums of a table `t`, with number and id of the session; `more` adds columns. */
export function selectOf(table: TableName, more = ''): string {
  if (table === 'session')
    return `SELECT coalesce(t.n, r.session) AS n, ${SESSION}, ${RECORD}${more}
      FROM @session t FULL JOIN @record r ON r.session = t.n`
  const names = [...Object.keys(TABLES[table].columns), ...Object.keys(SUMS[table])]
    .filter((name) => isFree(table) || name !== 'session')
    .map((name) => `t."${name}"`)
  const columns = `${names.join(', ')}${MORE[table] ?? ''}${more}`
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

/** The condition of the indexes of types. PostgreSQL uses them only where it is repeated. */
export const INDEXED = "l.types IS DISTINCT FROM ''"

/** A table `kind` of all values of `types` that rows have, one step in the index for each; for a recursive WITH. */
export function kinds(where: string, from = ''): string {
  const least = (more: string) =>
    `(SELECT min(l.types) FROM @log l WHERE ${where} ${INDEXED} AND l.types IS NOT NULL ${more})`
  return `kind (types) AS (SELECT ${least('')} ${from && `FROM ${from}`}
    UNION ALL SELECT ${least('AND l.types > kind.types')} FROM kind ${from && `, ${from}`}
      WHERE kind.types IS NOT NULL)`
}
