import { randomBytes } from 'node:crypto'
import type { CommitFilter, CommitLog, StoredCommit } from '../nodes.ts'
import { integer, type Row, text } from '../row.ts'
import { areNamed } from '../row-types.ts'
import { fromColumn, toColumn } from './columns.ts'
import type { Database } from './database.ts'
import { WakeUps } from './listener.ts'
import { TIMELINE } from './schema.ts'
import { INDEXED, kinds } from './table-rows.ts'

/** The number of commits per read, and of those among which a principal's own are looked for. */
const PAGE = 200
const WINDOW = 5_000

const EPOCH = 'SELECT epoch FROM @feed'
/**
 * A transaction below the oldest one that still runs is over, and no later one can appear below it. So readers that stop
 * there skip no commit, in whichever order transactions end.
 */
const HEAD = 'SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS head'
const ROW = 'l.xact, l.id, l.first, l.last, l.session'
const UNREAD = `EXISTS (SELECT FROM @record r WHERE r.session = l.session)
  AND l.xact < pg_snapshot_xmin(pg_current_snapshot())::text::bigint AND l.id > (SELECT after FROM @feed)
  AND (l.xact, l.id) >= ($1, $2) AND NOT ((l.xact, l.id) = ($1, $2) AND l.last - l.first + 1 <= $3)`
const NEXT = `ORDER BY l.xact, l.id LIMIT ${PAGE}`
const named = (rows: string, isFar = `(count(*) OVER ()) = ${PAGE}`) =>
  `SELECT l.xact, l.id, l.first, l.last, s.id AS session, r.principal, ${isFar} AS far FROM (${rows}) l
  JOIN @session s ON s.n = l.session JOIN @record r ON r.session = l.session ORDER BY l.xact, l.id`

const AFTER = named(`SELECT ${ROW} FROM @log l WHERE ${UNREAD} ${NEXT}`)

/** Rows of the principal `$4`, and the last row that was looked at. */
const OWN = `WITH near AS MATERIALIZED (SELECT ${ROW} FROM @log l WHERE ${UNREAD} ORDER BY l.xact, l.id LIMIT ${WINDOW}),
    page AS (SELECT l.* FROM near l JOIN @record r ON r.session = l.session WHERE r.principal = $4 ${NEXT})
  ${named(
    `SELECT * FROM page UNION SELECT * FROM (SELECT * FROM near l ORDER BY l.xact DESC, l.id DESC LIMIT 1) l
    WHERE (SELECT count(*) FROM page) < ${PAGE}`,
    `(SELECT count(*) FROM near) = ${WINDOW}`,
  )}`

/** Rows with one of the types `$4`, those of older versions, whose types are unknown, and the last row of all. */
const TYPED = named(`WITH RECURSIVE ${kinds('')},
    hit AS (SELECT h.* FROM kind, LATERAL (SELECT ${ROW} FROM @log l
        WHERE ${INDEXED} AND l.types = kind.types AND ${UNREAD} ${NEXT}) h
      WHERE string_to_array(kind.types, ' ') && $4::text[]
      UNION ALL (SELECT ${ROW} FROM @log l WHERE ${INDEXED} AND l.types IS NULL AND ${UNREAD} ${NEXT})),
    page AS (SELECT * FROM hit l ${NEXT})
  SELECT * FROM page UNION SELECT * FROM (SELECT ${ROW} FROM @log l WHERE ${UNREAD}
    ORDER BY l.xact DESC, l.id DESC LIMIT 1) l WHERE (SELECT count(*) FROM page) < ${PAGE}`)

/** The commits of all servers of a database, in the order of their transactions. */
export class PostgresCommitLog implements CommitLog {
  readonly #database: Database
  readonly #wakeUps = new WakeUps()

  constructor(database: Database) {
    this.#database = database
  }

  /** Call when a server may have committed something. */
  wake(): void {
    this.#wakeUps.wake('commit')
  }

  async epoch(): Promise<string> {
    const [row] = await this.#database.read(EPOCH)
    return text(row ?? {}, 'epoch')
  }

  async head(): Promise<string> {
    return `${await this.#head()}.0.0`
  }

  async isBeyondHead(position: string): Promise<boolean> {
    const [xact, , read] = numbersOf(position)
    const head = await this.#head()
    return xact > head || (xact === head && read > 0)
  }

  async after(position: string, { principal, types }: CommitFilter = {}): Promise<readonly StoredCommit[]> {
    const [xact, id, read] = numbersOf(position)
    const from = [xact, id, read]
    const own = principal === undefined ? undefined : toColumn(principal)
    let rows = await (own === undefined
      ? this.#database.read(AFTER, from)
      : this.#database.read(OWN, [...from, own]))
    // A reader that has almost caught up is better off without the index.
    if (types && rows[0]?.far === true && areNamed(types))
      rows = await this.#database.read(TYPED, [...from, [...types]])
    return rows.map((row) => commitOf(row, { xact, id, read }))
  }

  changed(signal: AbortSignal): Promise<void> {
    return this.#wakeUps.wait('commit', signal)
  }

  async #head(): Promise<number> {
    const [row] = await this.#database.read(HEAD)
    return integer(row ?? {}, 'head')
  }
}

function commitOf(row: Row, at: { xact: number; id: number; read: number }): StoredCommit {
  const [xact, id, first] = [integer(row, 'xact'), integer(row, 'id'), integer(row, 'first')]
  return {
    position: `${xact}.${id}`,
    session: fromColumn(text(row, 'session')),
    principal: fromColumn(text(row, 'principal')),
    seq: first,
    count: integer(row, 'last') - first + 1,
    read: xact === at.xact && id === at.id ? at.read : 0,
  }
}

function numbersOf(position: string): [xact: number, id: number, read: number] {
  const [xact = 0, id = 0, read = 0] = position.split('.').map(Number)
  return [xact, id, read]
}

const WAIT_MS = 10_000

/**
 * A dump that is restored has another table, in another database or on another server. A server that is restored to a
 * point in time, or promoted, continues on another timeline.
 */
const TABLE = `SELECT d.oid || '.' || c.oid AS place, ${TIMELINE} AS timeline FROM pg_database d, pg_class c
  WHERE d.datname = current_database() AND c.oid = '@log'::regclass`
const SERVER = 'SELECT system_identifier::text AS server FROM pg_control_system()'

const ADOPT = "UPDATE @feed SET place = $1 WHERE place = ''"
const RENEW = `UPDATE @feed SET place = $1, epoch = $2, after = s.last
  FROM (SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM @log_id_seq OFFSET 0) s WHERE place <> $1`

/**
 * Begins a new epoch of the feed if the tables were restored from a dump or a backup: the transactions of its rows belong
 * to another server, or their numbers are given again, so that cursors from after the backup would skip entries or repeat
 * them. Entries in the backup are not in the new feed.
 */
export async function renewEpoch(database: Database): Promise<void> {
  const place = await placeOf(database)
  await database.write(ADOPT, [place])
  const [restored] = await database.read('SELECT FROM @feed WHERE place <> $1', [place])
  if (!restored) return
  await database.transaction(WAIT_MS, async (query) => {
    // Lets commits end that are under way, so that every later row is after `last`.
    await query('LOCK TABLE @log IN SHARE ROW EXCLUSIVE MODE')
    await query(RENEW, [place, randomBytes(4).toString('hex')])
  })
}

async function placeOf(database: Database): Promise<string> {
  const [table] = await database.read(TABLE)
  // A provider may forbid this function; the table alone tells almost every restored dump.
  const [server] = await database.read(SERVER).catch(() => [])
  const [place, timeline] = [text(table ?? {}, 'place'), text(table ?? {}, 'timeline')]
  return `${place}.${server ? text(server, 'server') : ''}.${timeline}`
}
