import { setImmediate } from 'node:timers/promises'
import { integer, type Row, text } from '../../row.ts'
import { searchableEntries } from '../../search.ts'
import type { SearchLag } from '../../store.ts'
import { fromColumn } from '../columns.ts'
import type { Database } from '../database.ts'
import { Parameters, PIECE, typed } from '../parameters.ts'

/** The version of the index. Raise it when the tokens of a text change: an older index is built anew. */
const VERSION = 2

/** Text of the log that one step reads, and its rows. A longer row is a step by itself. */
const STEP_BYTES = 256 * 1024
const STEP_ROWS = 256
/** Old rows of the log that one step looks at, so that they are not sorted as a whole. */
const IDS = 2_000

const POSITION = `SELECT version, base, low, xact, id, pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xmin,
  pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS xmax FROM @indexed`

/** The first rows of a range that are not too long together; always the first. */
const rowsIn = (where: string, order: string) => `WITH next AS (
    SELECT session, first, xact, id, version, body FROM @log WHERE ${where} ORDER BY ${order} LIMIT ${STEP_ROWS}),
  found AS (SELECT *, sum(octet_length(body)) OVER w - octet_length(body) AS before FROM next
    WINDOW w AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING))
  SELECT f.session, r.principal, first, xact, id, version, f.body FROM found f LEFT JOIN @record r ON r.session = f.session
  WHERE before < ${STEP_BYTES} ORDER BY ${order}`

/** A transaction below `$3` is over, so that no row appears among these later. */
const NEW = rowsIn('id > $4 AND xact < $3 AND (xact, id) > ($1, $2)', 'xact, id')
/** The first row after the position, and the highest id. */
const LAG = `SELECT (SELECT at FROM @log WHERE (xact, id) > ($1, $2) AND id > $3 ORDER BY xact, id LIMIT 1) AS at,
  (SELECT last_value FROM @log_id_seq) AS top`
const OLD = rowsIn('id >= $1 AND id < $2', 'id DESC')

/** Rows that are in the log now are to be indexed from the newest to the oldest. Nothing may be written to it meanwhile. */
export const INDEX_FROM_HERE = `UPDATE @indexed SET version = ${VERSION}, base = s.last, low = s.last + 1, id = 0,
  xact = pg_snapshot_xmin(pg_current_snapshot())::text::bigint
  FROM (SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM @log_id_seq OFFSET 0) s`
const REBUILD_MS = 10_000
const REBUILD = `${INDEX_FROM_HERE}
  WHERE version < ${VERSION} OR xact > pg_snapshot_xmax(pg_current_snapshot())::text::bigint RETURNING one`

/** The indexed range: rows from `base` down to `low`, and later ones up to `xact` and `id`. */
export interface Position {
  base: number
  low: number
  xact: number
  id: number
}

/** The result of a step. `lost`: another server was faster. `backfill`: indexed rows that are older than the index. */
export type Step = 'nothing' | 'lost' | 'work' | 'backfill'

interface Document {
  session: number
  first: number
  seq: number
  row: number
  /** The tokens, separated by spaces. */
  words: string
}

/**
 * The index of words in PostgreSQL, which any server extends in small steps. A step reads rows, and then adds their
 * documents and moves the position in one statement, if the position is still the one it began with.
 */
export class WordIndex {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** The indexed range. Nothing is indexed as far as this release knows if the index is stale, or of a newer release. */
  async position(): Promise<Position> {
    const { position, isStale, version } = await this.#state()
    return isStale || version > VERSION ? { ...position, low: Number.POSITIVE_INFINITY } : position
  }

  async lag(): Promise<SearchLag> {
    const { low, xact, id, base } = await this.position()
    const [row = {}] = await this.#database.read(LAG, [xact, id, base])
    const backlog = Math.max(0, Math.min(low - 1, integer(row, 'top')))
    return { backlog, ...(typeof row.at === 'number' && { since: row.at }) }
  }

  /** Indexes the next rows: new ones first, then older ones from the newest to the oldest. */
  async step(): Promise<Step> {
    const state = await this.#state()
    if (state.isStale) return this.#rebuild()
    // A newer release indexes differently, and does it by itself.
    if (state.version > VERSION) return 'nothing'
    const step = await this.#forward(state.position, state.xmin)
    return step === 'nothing' ? this.#backward(state.position) : step
  }

  /** Indexes the next rows after the position. */
  async forward(): Promise<Step> {
    const { position, xmin, isStale, version } = await this.#state()
    return isStale || version > VERSION ? 'nothing' : this.#forward(position, xmin)
  }

  async #forward(from: Position, xmin: number): Promise<Step> {
    const rows = await this.#database.read(NEW, [from.xact, from.id, xmin, from.base])
    const last = rows.at(-1)
    if (!last) return 'nothing'
    return this.#add(rows, from, { ...from, xact: integer(last, 'xact'), id: integer(last, 'id') })
  }

  async #backward(from: Position): Promise<Step> {
    if (from.low <= 1) return 'nothing'
    const end = Math.max(1, from.low - IDS)
    const rows = await this.#database.read(OLD, [end, from.low])
    const low = rows.at(-1)?.id
    const step = await this.#add(rows, from, { ...from, low: typeof low === 'number' ? low : end })
    return step === 'work' ? 'backfill' : step
  }

  async #add(rows: readonly Row[], from: Position, to: Position): Promise<Step> {
    const documents: Document[] = []
    for (const row of rows) {
      documents.push(...documentsIn(row))
      // Splitting a long text takes milliseconds: streams have their turn in between.
      await setImmediate()
    }
    const { sql, values } = addStatement(documents, from, to)
    // May be repeated like a read: if the first attempt was committed, the second finds another position.
    const moved = await this.#database.read(sql, values)
    return moved.length > 0 ? 'work' : 'lost'
  }

  async #state(): Promise<State> {
    const [row = {}] = await this.#database.read(POSITION)
    const numbers = ['base', 'low', 'xact', 'id'] as const
    const [base = 0, low = 0, xact = 0, id = 0] = numbers.map((name) => integer(row, name))
    const version = integer(row, 'version')
    // Transactions that this server has not begun: the database was restored into another server.
    const isStale = version < VERSION || xact > integer(row, 'xmax')
    return { position: { base, low, xact, id }, version, isStale, xmin: integer(row, 'xmin') }
  }

  /** Forgets all documents. The lock lets commits that are under way end first. */
  async #rebuild(): Promise<Step> {
    return this.#database.transaction(REBUILD_MS, async (query) => {
      await query('LOCK TABLE @log IN SHARE ROW EXCLUSIVE MODE')
      const [row] = await query(REBUILD)
      if (!row) return 'lost'
      await query('TRUNCATE @document')
      return 'work'
    })
  }
}

interface State {
  position: Position
  version: number
  isStale: boolean
  /** Transactions below this one are over. */
  xmin: number
}

function documentsIn(row: Row): Document[] {
  const [session, first, id] = [integer(row, 'session'), integer(row, 'first'), integer(row, 'id')]
  const principal = typeof row.principal === 'string' ? fromColumn(row.principal) : ''
  return searchableEntries(text(row, 'body'), integer(row, 'version'), principal).map(
    ({ place, tokens }) => ({
      session,
      first,
      seq: first + place,
      row: id,
      words: [...new Set(tokens)].join(' '),
    }),
  )
}

/**
 * One statement, which does nothing if the position has moved. Rows that are being removed are waited for and then left
 * out. The commit does not wait for the disk: a crash takes documents and position with it, and both are made again.
 */
function addStatement(documents: readonly Document[], from: Position, to: Position) {
  const parameters = new Parameters()
  const number = (value: number) => parameters.add(value, 'bigint')
  const rows = documents.map(({ session, first, seq, row, words }) => ({
    session,
    first,
    seq,
    row,
    ...parameters.piece(words),
  }))
  const columns = { ...typed('bigint', 'session', 'first', 'seq', 'row'), ...typed('int', 'pos', 'bytes') }
  const sql = `WITH moved AS (UPDATE @indexed SET low = ${number(to.low)}, xact = ${number(to.xact)}, id = ${number(to.id)}
      WHERE base = ${number(from.base)} AND low = ${number(from.low)} AND xact = ${number(from.xact)}
        AND id = ${number(from.id)} AND set_config('synchronous_commit', 'off', true) = 'off' RETURNING one),
    doc AS (SELECT x.* FROM ${parameters.rows('x', columns, rows)}),
    held AS (SELECT l.session, l.first FROM @log l WHERE (l.session, l.first) IN (SELECT session, first FROM doc)
      FOR KEY SHARE),
    added AS (INSERT INTO @document (session, first, seq, id, tokens)
      SELECT d.session, d.first, d.seq, d.row, array_to_tsvector(string_to_array(${PIECE.text('d')}, ' '))
      FROM doc d JOIN held USING (session, first), moved ON CONFLICT DO NOTHING)
    SELECT one FROM moved`
  return { sql, values: parameters.finish() }
}
