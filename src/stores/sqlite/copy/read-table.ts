import type { DatabaseSync } from 'node:sqlite'
import { sourceChanged } from '../../copy/refusals.ts'
import { integer, type Row, text } from '../../row.ts'
import { TABLES, type TableName } from '../../tables.ts'
import { JOURNAL_IDS } from '../schema.ts'
import { ORDER, selectOf } from '../table-rows.ts'

/** The rows of a table in the order of a copy, after one that was copied already. */
export function rowsAfter(db: DatabaseSync, table: TableName, after: Row | undefined): Iterable<Row> {
  const order = ORDER[table]
  if (table === 'journal') return journal(db, after)
  if (order.length === 0) return db.prepare(selectOf(table)).iterate()
  if (!after) return db.prepare(`${selectOf(table)} ORDER BY ${order.join(', ')}`).iterate()
  const places = order.map(() => '?').join(', ')
  const sql = `${selectOf(table)} WHERE (${order.join(', ')}) > (${places}) ORDER BY ${order.join(', ')}`
  return db.prepare(sql).iterate(...placeOf(db, table, after))
}

/** The key of the last row, if the table has an order. */
export function lastKey(db: DatabaseSync, table: TableName): Row | undefined {
  // Rows are copied in the order of sessions, and their ids follow it.
  const order = table === 'journal' ? ['t.id'] : ORDER[table]
  if (order.length === 0) return undefined
  const sql = `${selectOf(table)} ORDER BY ${order.map((name) => `${name} DESC`).join(', ')} LIMIT 1`
  const row = db.prepare(sql).get()
  return row && Object.fromEntries(TABLES[table].key.map((name) => [name, row[name]]))
}

/** The number of a session that was copied already. */
export function numberOf(db: DatabaseSync, session: string): number {
  const row = db.prepare('SELECT n FROM session WHERE id = ?').get(session)
  if (!row) throw sourceChanged(`session ${session}`)
  return integer(row, 'n')
}

/** Where a row is in the order of its table. */
function placeOf(db: DatabaseSync, table: TableName, key: Row): (number | string)[] {
  if (table === 'receipt' || table === 'audit') return [text(key, 'id')]
  const session = text(key, 'session')
  const n = numberOf(db, session)
  if (table === 'session') return [n]
  if (table === 'queued') return [n, integer(key, 'turn')]
  if (table === 'blob') return [n, text(key, 'id')]
  const row = db.prepare('SELECT id FROM log WHERE session = ? AND first = ?').get(n, integer(key, 'first'))
  if (!row) throw sourceChanged(`the log of session ${session}`)
  return [integer(row, 'id')]
}

/** By sessions, because the index of the journal has no other order that is the same in every database. */
function* journal(db: DatabaseSync, after: Row | undefined): Generator<Row> {
  const frames = db.prepare(`${selectOf('journal')} WHERE t.id IN (${JOURNAL_IDS}) ORDER BY t.id`)
  const from = after ? numberOf(db, text(after, 'session')) : 0
  for (const row of db.prepare('SELECT n FROM session WHERE n >= ? ORDER BY n').iterate(from)) {
    const n = integer(row, 'n')
    yield* frames.iterate({ n, after: after && n === from ? integer(after, 'last') : -1 })
  }
}
