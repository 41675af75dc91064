import type { DatabaseSync } from 'node:sqlite'
import { integer, type Row, text } from '../../row.ts'
import { columnsOf, isFree, type TableName } from '../../tables.ts'
import { inserter, insertInto, same, toInput, withSums } from '../insert.ts'
import { logTop } from '../removal.ts'
import { numberOf } from './read-table.ts'

/** Adds rows with the checksums of this store. `contentOf` returns the checksum of a blob that was written before. */
export function addRows(
  db: DatabaseSync,
  table: TableName,
  rows: readonly Row[],
  contentOf: (blob: string) => number | undefined,
): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    if (table === 'session') addSessions(db, rows)
    else addOthers(db, table, rows, contentOf)
    db.exec('COMMIT')
  } catch (thrown) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw thrown
  }
}

const HEARD = { last: 'last_frame', ...same('frames', 'mapped', 'unmapped', 'malformed', 'oversized') }

/** A session is in three tables. */
function addSessions(db: DatabaseSync, rows: readonly Row[]): void {
  const first = ['n', 'earliest', 'earliest_frame', 'queued', 'edge_sum', 'fence', 'lease_sum']
  const add = insertInto(db, 'session', { id: 'session', ...same(...first) })
  // An update, because the triggers that count sessions and native conversations follow updates.
  const setRecord = db.prepare(
    'UPDATE session SET principal = ?, status = ?, asking = ?, record = ?, sum = ? WHERE n = ?',
  )
  const ends = same('head', 'at', 'journaled', 'counted')
  const addTail = insertInto(db, 'tail', { session: 'n', ...ends, sum: 'tail_sum' })
  const addHeard = insertInto(db, 'heard', { session: 'n', ...HEARD, sum: 'heard_sum' })
  let n = integer(db.prepare('SELECT coalesce(max(n), 0) AS n FROM session').get() ?? {}, 'n')
  for (const row of rows) {
    n++
    const summed = withSums('session', { ...row, n, counted: row.last_frame, ends: row.head })
    add(summed)
    if (row.record !== null) {
      const columns = ['principal', 'status', 'asking', 'record', 'record_sum', 'n']
      setRecord.run(...columns.map((column) => toInput(summed[column])))
    }
    addTail(summed)
    if (row.last_frame !== null) addHeard(summed)
  }
}

const SPENT = columnsOf('spent').map(([name]) => `${name} = excluded.${name}`)

/** Records add native conversations, and a copy that is continued adds unordered tables again. */
const ADDED_AGAIN: Partial<Record<TableName, string>> = {
  native: 'ON CONFLICT DO NOTHING',
  spent: `ON CONFLICT DO UPDATE SET ${SPENT.join(', ')}`,
  token: 'ON CONFLICT DO NOTHING',
  permit: 'ON CONFLICT DO NOTHING',
}

function addOthers(
  db: DatabaseSync,
  table: Exclude<TableName, 'session'>,
  rows: readonly Row[],
  contentOf: (blob: string) => number | undefined,
): void {
  const add = inserter(db, table, ADDED_AGAIN[table])
  let id = table === 'log' ? logTop(db) : 0
  for (const row of rows) {
    const n = isFree(table) ? undefined : numberOf(db, text(row, 'session'))
    if (table === 'log') add({ ...row, n, id: ++id })
    else if (table === 'blob') add({ ...row, n, content: contentOf(text(row, 'id')) })
    else add({ ...row, n })
  }
}
