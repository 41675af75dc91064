import type { Entry } from '../../model/index.ts'
import { integer, text } from '../row.ts'
import { matchesIn } from '../search.ts'
import type { TextMatches, TextQuery } from '../store.ts'
import { fromColumn, toColumn } from './columns.ts'
import type { Database } from './database.ts'
import type { LogReader } from './log-reader.ts'

/** Rows of the log that one statement looks at, and that it returns. */
const RANGE = 20_000
const ROWS = 200

/** Reads the newest rows of the log first, until enough entries match. There is no index of words yet. */
export async function searchLogs(
  database: Database,
  reader: Pick<LogReader, 'entriesIn'>,
  { principal, terms, limit }: TextQuery,
): Promise<TextMatches> {
  const sql = `SELECT s.id AS session, l.id, l.first, l.last, l.version, l.sum, l.body
    FROM @log l JOIN @session s ON s.n = l.session JOIN @record r ON r.session = l.session
    WHERE l.id >= $1 AND l.id < $2 AND r.principal = $3 ORDER BY l.id DESC LIMIT $4`
  const found: Entry[] = []
  for (let below = await lastRow(database); below > 1 && found.length < limit; ) {
    const from = Math.max(1, below - RANGE)
    const rows = await database.read(sql, [from, below, toColumn(principal), ROWS])
    for (const row of rows) {
      found.push(...matchesIn(reader.entriesIn(fromColumn(text(row, 'session')), row), terms))
    }
    const oldest = rows.at(-1)
    below = oldest && rows.length === ROWS ? integer(oldest, 'id') : from
  }
  return { entries: found.slice(0, limit), isComplete: true }
}

/** One more than the last row has. */
async function lastRow(database: Database): Promise<number> {
  const [row] = await database.read('SELECT last_value AS id FROM @log_id_seq')
  return integer(row ?? {}, 'id') + 1
}
