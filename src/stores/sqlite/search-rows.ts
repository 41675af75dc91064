import type { DatabaseSync } from 'node:sqlite'
import { integer, text } from '../row.ts'

/** Rows of the log that are looked at in one go; between two of them others have their turn. */
const ROWS = 20_000

/** Entries that follow each other in one log and may contain the words of a search. */
export interface Candidate {
  session: string
  first: number
  last: number
}

/**
 * The newest rows before `below` whose texts may contain the words. The words are looked for in the stored JSON, which
 * finds every match and some that are none: the caller reads the entries and decides. `below` is 0 after the last row.
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

/** SQLite compares letters outside of ASCII by their case, and JSON writes some characters differently. */
function isPlain(word: string): boolean {
  return /^[\x20-\x7e]+$/.test(word) && !/["\\/]/.test(word)
}

function likePattern(word: string): string {
  return `%${word.replaceAll(/[%_\\]/g, '\\$&')}%`
}
