import type { DatabaseSync } from 'node:sqlite'
import { integer, text } from '../row.ts'

/** Rows scanned at a time; other tasks run in between. */
const ROWS = 20_000

/** Consecutive entries of one log that may contain the words. */
export interface Candidate {
  session: string
  first: number
  last: number
}

/** The newest rows before `below`. `below` of the answer is 0 after the last row. */
export function candidates(
  db: DatabaseSync,
  { principal }: { principal: string },
  below: number | undefined,
): { found: Candidate[]; below: number } {
  const to = below ?? integer(db.prepare('SELECT coalesce(max(id), 0) + 1 AS id FROM log').get() ?? {}, 'id')
  const from = Math.max(1, to - ROWS)
  const rows = db
    .prepare(`SELECT s.id AS session, l.first, l.last FROM log l JOIN session s ON s.n = l.session
      WHERE l.id >= ? AND l.id < ? AND s.principal = ? ORDER BY l.id DESC`)
    .all(from, to, principal)
  const found = rows.map((row) => ({
    session: text(row, 'session'),
    first: integer(row, 'first'),
    last: integer(row, 'last'),
  }))
  return { found, below: from === 1 ? 0 : from }
}
