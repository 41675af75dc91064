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

/**
 * Finds the newest rows before `below` whose stored JSON may contain the words. Finds every match and some false ones;
 * the caller checks the entries. `below` is 0 after the last row.
 */
export function candidates(
  db: DatabaseSync,
  { principal, words }: { principal: string; words: readonly string[] },
  below: number | undefined,
): { found: Candidate[]; below: number } {
  const to = below ?? integer(db.prepare('SELECT coalesce(max(id), 0) + 1 AS id FROM log').get() ?? {}, 'id')
  const from = Math.max(1, to - ROWS)
  const patterns = words.filter(isPlain).map(likePattern)
  const conditions = patterns.map(() => " AND l.body LIKE ? ESCAPE '\\'").join('')
  const rows = db
    .prepare(`SELECT s.id AS session, l.first, l.last FROM log l JOIN session s ON s.n = l.session
      WHERE l.id >= ? AND l.id < ? AND s.principal = ?${conditions} ORDER BY l.id DESC`)
    .all(from, to, principal, ...patterns)
  const found = rows.map((row) => ({
    session: text(row, 'session'),
    first: integer(row, 'first'),
    last: integer(row, 'last'),
  }))
  return { found, below: from === 1 ? 0 : from }
}

/** SQLite is case-sensitive outside ASCII, and JSON escapes some characters. */
function isPlain(word: string): boolean {
  return /^[\x20-\x7e]+$/.test(word) && !/["\\/]/.test(word)
}

function likePattern(word: string): string {
  return `%${word.replaceAll(/[%_\\]/g, '\\$&')}%`
}
