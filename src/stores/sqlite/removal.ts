import type { DatabaseSync } from 'node:sqlite'
import { integer, text } from '../row.ts'
import { changeCounters } from './counters.ts'
import type { Delete, Removal, Trim } from './message.ts'
import { removeAnswers } from './receipts.ts'
import { JOURNAL_IDS } from './schema.ts'
import { inserter } from './table-rows.ts'

const DELETE_JOURNAL = `DELETE FROM journal WHERE id IN (${JOURNAL_IDS}) AND last < :before`

/** Larger than any frame number. */
const ALL_FRAMES = Number.MAX_SAFE_INTEGER

/** Applies a removal inside a transaction. Returns the blobs that no entry refers to any more. */
export function removal(db: DatabaseSync, message: Removal): string[] {
  switch (message.kind) {
    case 'delete':
      if (message.fact) inserter(db, 'audit')(message.fact)
      return deleteSession(db, message)
    case 'trim':
      changeCounters(db, message.n, () => trim(db, message))
      return []
    case 'forget':
      db.prepare('DELETE FROM receipt WHERE at < ?').run(message.before)
      return []
    default:
      return message satisfies never
  }
}

/** At least the highest id that a row of the log has or had. */
export function logTop(db: DatabaseSync): number {
  const row = db
    .prepare('SELECT max(t.id, coalesce((SELECT max(id) FROM log), 0)) AS top FROM log_top t')
    .get()
  return integer(row ?? {}, 'top')
}

function deleteSession(db: DatabaseSync, { n, id }: Delete): string[] {
  db.prepare('UPDATE log_top SET id = ?').run(logTop(db))
  db.prepare('DELETE FROM log WHERE session = ?').run(n)
  db.prepare(DELETE_JOURNAL).run({ n, after: -1, before: ALL_FRAMES })
  removeAnswers(db, id)
  db.prepare('DELETE FROM heard WHERE session = ?').run(n)
  db.prepare('DELETE FROM queued WHERE session = ?').run(n)
  db.prepare('DELETE FROM tail WHERE session = ?').run(n)
  db.prepare('DELETE FROM session WHERE n = ?').run(n)
  const blobs = db.prepare('DELETE FROM blob WHERE session = ? RETURNING id').all(n)
  return blobs.map((row) => text(row, 'id'))
}

/** Removes whole rows. Keeps the last one, which shows where the log ends. */
function trim(db: DatabaseSync, { n, seq, frame }: Trim): void {
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
