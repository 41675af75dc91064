import type { Entry } from '../../../model/index.ts'
import type { SearchTerm } from '../../../model/text/search-terms.ts'
import type { LogReads } from '../../log-store/log-reads.ts'
import { integer, type Row, text } from '../../row.ts'
import { readableMatches, scopeOf } from '../../search.ts'
import type { TextMatches, TextQuery } from '../../store.ts'
import { fromColumn, toColumn } from '../columns.ts'
import type { Database } from '../database.ts'
import type { Position, WordIndex } from './word-index.ts'

/** The time limit for a search to extend the index, and another one to read rows of the log. */
const WAIT_MS = 1_000
/** Rows of the log that are read at a time. */
const PAGE = 20
/** The same, once many rows had the words and not the terms. Each page asks the index again. */
const LARGEST_PAGE = 640
/** Rows of the log whose documents are asked first: of a frequent word, these are enough. */
const NEWEST = 20_000
const LAST_ID = Number.MAX_SAFE_INTEGER

const ROW = 's.id AS session, l.id, l.first, l.last, l.version, l.sum, l.body'

/** Rows after the position: a transaction that still runs keeps them from being indexed. */
const UNINDEXED = `SELECT ${ROW}, l.xact FROM @log l JOIN @session s ON s.n = l.session
  JOIN @record r ON r.session = l.session
  WHERE (l.xact, l.id) > ($1, $2) AND (l.xact, l.id) < ($3, $4) AND l.id > $5 AND r.principal = $6
  ORDER BY l.xact DESC, l.id DESC LIMIT ${PAGE}`

/** The index is asked before the rows are sorted, whichever way the planner would prefer. */
const INDEXED = `WITH hit AS MATERIALIZED (SELECT DISTINCT d.session, d.first, d.id FROM @document d
    JOIN @record r ON r.session = d.session
    WHERE d.tokens @@ $1::tsquery AND d.id >= $2 AND d.id < $3 AND r.principal = $4)
  SELECT ${ROW} FROM (SELECT * FROM hit ORDER BY id DESC LIMIT $5) h
  JOIN @log l ON l.session = h.session AND l.first = h.first JOIN @session s ON s.n = l.session ORDER BY l.id DESC`

interface Deps {
  database: Database
  index: WordIndex
  reader: Pick<LogReads, 'entriesIn'>
  /** The clock of a test. */
  monotonic?: () => number
}

/** Finds entries with the index, and among the rows that are not indexed yet. */
export async function searchLogs(deps: Deps, query: TextQuery): Promise<TextMatches> {
  const now = deps.monotonic ?? (() => performance.now())
  const until = now() + WAIT_MS
  while (now() < until && (await deps.index.forward()) !== 'nothing');
  const matches = await lookUp(deps, query, now)
  if (matches.isComplete || matches.entries.length >= query.limit || now() >= until) return matches
  while (now() < until && (await deps.index.step()) !== 'nothing');
  return lookUp(deps, query, now)
}

async function lookUp(deps: Deps, query: TextQuery, now: () => number): Promise<TextMatches> {
  const until = now() + WAIT_MS
  const isLate = () => now() >= until
  // Read first: a row that is indexed in between is found twice, and none is missed.
  const position = await deps.index.position()
  const [recent, older] = [await unindexed(deps, query, position, isLate), await indexed(deps, query, isLate)]
  const all = [...recent.found, ...older.found]
  const found = new Map(all.map((match) => [`${match.entry.session} ${match.entry.seq}`, match]))
  const entries = [...found.values()]
    .sort((a, b) => b.row - a.row || b.entry.seq - a.entry.seq)
    .slice(0, query.limit)
    .map(({ entry }) => entry)
  return { entries, isComplete: position.low <= 1 && recent.isComplete && older.isComplete }
}

interface Match {
  /** The row of the log, which is the order of commits. */
  row: number
  entry: Entry
}

/** What was found, and whether there was time to look everywhere, or until there were enough matches. */
interface RowMatches {
  found: Match[]
  isComplete: boolean
}

async function unindexed(
  deps: Deps,
  query: TextQuery,
  { xact, id, base }: Position,
  isLate: () => boolean,
): Promise<RowMatches> {
  const found: Match[] = []
  let below = [LAST_ID, LAST_ID]
  while (found.length < query.limit) {
    const values = [xact, id, ...below, base, toColumn(query.principal)]
    const rows = await deps.database.read(UNINDEXED, values)
    found.push(...(await matchesOf(deps, rows, query.terms)))
    if (rows.length < PAGE) return { found, isComplete: true }
    if (isLate()) return { found, isComplete: false }
    below = [integer(rows.at(-1) ?? {}, 'xact'), lowest(rows)]
  }
  return { found, isComplete: true }
}

async function indexed(deps: Deps, query: TextQuery, isLate: () => boolean): Promise<RowMatches> {
  const principal = toColumn(query.principal)
  const words = tsquery(query)
  const [top] = await deps.database.read('SELECT coalesce(max(id), 0) AS id FROM @document')
  const from = integer(top ?? {}, 'id') - NEWEST
  const found: Match[] = []
  let size = PAGE
  for (const range of [
    { low: from, below: LAST_ID },
    { low: 0, below: from },
  ]) {
    for (let { low, below } = range; below > low && found.length < query.limit; ) {
      const rows = await deps.database.read(INDEXED, [words, low, below, principal, size])
      found.push(...(await matchesOf(deps, rows, query.terms)))
      below = rows.length < size ? low : lowest(rows)
      if (isLate() && (below > low || low > 0)) return { found, isComplete: found.length >= query.limit }
      size = Math.min(2 * size, LARGEST_PAGE)
    }
  }
  return { found, isComplete: true }
}

const lowest = (rows: readonly Row[]) => integer(rows.at(-1) ?? {}, 'id')

/** Which words follow each other is decided here: the index does not know the order of words. */
async function matchesOf(
  { reader }: Deps,
  rows: readonly Row[],
  terms: readonly SearchTerm[],
): Promise<Match[]> {
  const matches: Match[] = []
  for (const row of rows) {
    const session = fromColumn(text(row, 'session'))
    const found = await readableMatches(session, terms, () => reader.entriesIn(session, row))
    for (const entry of found) matches.push({ row: integer(row, 'id'), entry })
  }
  return matches
}

/** Tokens have letters and digits alone, so nothing in them has to be escaped. */
function tsquery({ principal, terms }: TextQuery): string {
  const scope = scopeOf(principal)
  const words = terms.flatMap((term) =>
    term.map((token, index) => (index === term.length - 1 ? `'${scope}${token}':*` : `'${scope}${token}'`)),
  )
  return words.join(' & ')
}
