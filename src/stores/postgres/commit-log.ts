import type { CommitLog, StoredCommit } from '../nodes.ts'
import { integer, type Row, text } from '../row.ts'
import { WakeUps } from '../wake-ups.ts'
import { fromColumn } from './columns.ts'
import type { Database } from './database.ts'

/** The number of commits per read. */
const PAGE = 200

const EPOCH = "SELECT value FROM @setting WHERE name = 'feed'"
/**
 * A transaction below the oldest one that still runs is over, and no later one can appear below it. So readers that stop
 * there skip no commit, in whichever order transactions end.
 */
const HEAD = 'SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS head'
const AFTER = `SELECT l.xact, l.id, l.first, l.last, s.id AS session, r.principal FROM @log l
  JOIN @session s ON s.n = l.session JOIN @record r ON r.session = l.session
  WHERE l.xact >= $1 AND l.xact < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    AND (l.xact, l.id) >= ($1, $2) AND NOT ((l.xact, l.id) = ($1, $2) AND l.last - l.first + 1 <= $3)
  ORDER BY l.xact, l.id LIMIT ${PAGE}`

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
    return text(row ?? {}, 'value')
  }

  async head(): Promise<string> {
    return `${await this.#head()}.0.0`
  }

  async isBeyondHead(position: string): Promise<boolean> {
    const [xact, , read] = numbersOf(position)
    const head = await this.#head()
    return xact > head || (xact === head && read > 0)
  }

  async after(position: string): Promise<readonly StoredCommit[]> {
    const [xact, id, read] = numbersOf(position)
    const rows = await this.#database.read(AFTER, [xact, id, read])
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
