import type { DatabaseSync } from 'node:sqlite'
import { forgetCalls } from '../calls/call-statements.ts'
import { withoutAnswer } from '../receipts.ts'
import { integer, text } from '../row.ts'
import type { TrimPoint } from '../store.ts'
import { checkOf, sumOf } from '../tables.ts'
import { callKey } from './calls.ts'
import type { ChangedRow, StoreChange } from './message.ts'
import { JOURNAL_IDS } from './schema.ts'
import { inserter, SUMS, selectOf } from './table-rows.ts'

const DELETE_JOURNAL = `DELETE FROM journal WHERE id IN (${JOURNAL_IDS}) AND last < :before`

/** Larger than any frame number. */
const ALL_FRAMES = Number.MAX_SAFE_INTEGER

/** Applies a change inside a transaction. Returns the blobs that no entry refers to any more. */
export function applyChange(db: DatabaseSync, message: StoreChange): string[] {
  switch (message.kind) {
    case 'delete':
      if (message.fact) inserter(db, 'audit')(message.fact)
      return deleteSession(db, message.n, message.session)
    case 'trim':
      changeCounters(db, message.n, () => trim(db, message))
      return []
    case 'forget':
      db.prepare(`DELETE FROM ${message.table} WHERE at < ?`).run(message.before)
      return []
    case 'access':
      if (message.change) replaceRow(db, message.change)
      inserter(db, 'audit')(message.fact)
      return []
    case 'calls':
      for (const row of message.rows) {
        db.prepare('DELETE FROM delivery WHERE webhook = ? AND id = ?').run(...callKey(row))
        inserter(db, 'delivery')(row)
      }
      return []
    case 'forget calls': {
      const values: number[] = []
      const sql = forgetCalls(message, (value) => `?${values.push(value)}`)
      db.prepare(sql.replaceAll('@', '')).run(...values)
      return []
    }
    default:
      return message satisfies never
  }
}

function replaceRow(db: DatabaseSync, { table, key, row }: ChangedRow): void {
  const where = Object.keys(key).map((name) => `${name} = ?`)
  db.prepare(`DELETE FROM ${table} WHERE ${where.join(' AND ')}`).run(...Object.values(key))
  if (row !== 'removed') inserter(db, table)(row)
}

/** At least the highest id that a row of the log has or had. */
export function logTop(db: DatabaseSync): number {
  const row = db
    .prepare('SELECT max(t.id, coalesce((SELECT max(id) FROM log), 0)) AS top FROM log_top t')
    .get()
  return integer(row ?? {}, 'top')
}

function deleteSession(db: DatabaseSync, n: number, session: string): string[] {
  db.prepare('UPDATE log_top SET id = ?').run(logTop(db))
  db.prepare('DELETE FROM log WHERE session = ?').run(n)
  db.prepare(DELETE_JOURNAL).run({ n, after: -1, before: ALL_FRAMES })
  removeAnswers(db, session)
  db.prepare('DELETE FROM delivery WHERE session = ?').run(session)
  db.prepare('DELETE FROM heard WHERE session = ?').run(n)
  db.prepare('DELETE FROM queued WHERE session = ?').run(n)
  db.prepare('DELETE FROM tail WHERE session = ?').run(n)
  db.prepare('DELETE FROM session WHERE n = ?').run(n)
  const blobs = db.prepare('DELETE FROM blob WHERE session = ? RETURNING id').all(n)
  return blobs.map((row) => text(row, 'id'))
}

/** Removes whole rows. Keeps the last one, which shows where the log ends. */
function trim(db: DatabaseSync, { n, seq, frame }: TrimPoint & { n: number }): void {
  if (seq !== undefined) {
    db.prepare(`DELETE FROM log WHERE session = :n AND last < :seq
      AND first < (SELECT max(first) FROM log WHERE session = :n)`).run({ n, seq })
    db.prepare(`UPDATE session SET earliest =
      coalesce((SELECT min(first) FROM log WHERE session = :n), earliest) WHERE n = :n`).run({ n })
  }
  if (frame !== undefined) {
    db.prepare(`UPDATE session SET earliest_frame = max(earliest_frame, 1 + coalesce((SELECT max(last) FROM journal
      WHERE id IN (${JOURNAL_IDS}) AND last < :before), 0)) WHERE n = :n`).run({
      n,
      after: -1,
      before: frame,
    })
    db.prepare(DELETE_JOURNAL).run({ n, after: -1, before: frame })
  }
}

const EDGE = 'SELECT n, earliest, earliest_frame, queued, edge_sum FROM session WHERE n = ?'

/** Runs `work`, which may change the counters of a session. A checksum that did not match before stays, to show the damage. */
export function changeCounters(db: DatabaseSync, n: number, work: () => void): void {
  const counters = db.prepare(EDGE)
  const before = counters.get(n)
  work()
  const after = counters.get(n)
  if (!before || !after || checkOf(SUMS.session, 'edge_sum', before) === 'damaged') return
  db.prepare('UPDATE session SET edge_sum = ? WHERE n = ?').run(sumOf(SUMS.session.edge_sum, after), n)
}

function removeAnswers(db: DatabaseSync, session: string): void {
  const change = db.prepare('UPDATE receipt SET body = ?, sum = ? WHERE id = ?')
  for (const row of db.prepare(`${selectOf('receipt')} WHERE t.session = ?`).all(session)) {
    const { body, sum } = withoutAnswer(SUMS, row)
    change.run(body, sum, text(row, 'id'))
  }
}
