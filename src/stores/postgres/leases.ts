import { MainstemError } from '../../model/index.ts'
import { integer } from '../row.ts'
import { sessionNotFound } from '../session-not-found.ts'
import type { Lease } from '../store.ts'
import { fromColumn, toColumn } from './columns.ts'
import type { Database } from './database.ts'
import type { Places } from './places.ts'

/** The clock of the database in milliseconds; `$1` is the clock of a test, or null. */
export const NOW = 'coalesce($1::float8, extract(epoch FROM clock_timestamp())::float8 * 1000)'

const EXTEND = `INSERT INTO @owner AS held (id, until) VALUES ($2, ${NOW} + $3::float8)
  ON CONFLICT (id) DO UPDATE SET until = greatest(held.until, excluded.until)`

const RELEASE = 'DELETE FROM @owner WHERE id = $1'

/** Whether the lease of another owner than `$2` has not expired. */
export const IS_OTHERS = `s.owner IS NOT NULL AND s.owner <> $2
  AND EXISTS (SELECT FROM @owner o WHERE o.id = s.owner AND o.until > ${NOW})`

const ACQUIRE = `WITH acquired AS (UPDATE @session s SET fence = s.fence + 1, owner = $2, inherited = s.writes
    WHERE s.id = $4 AND NOT (${IS_OTHERS}) RETURNING s.fence, s.writes, s.head),
  extended AS (INSERT INTO @owner AS held (id, until) SELECT $2, ${NOW} + $3::float8 FROM acquired
    ON CONFLICT (id) DO UPDATE SET until = greatest(held.until, excluded.until))
  SELECT fence, writes, head FROM acquired`

const HOLDER = `SELECT s.owner, o.until - ${NOW} AS left FROM @session s LEFT JOIN @owner o ON o.id = s.owner
  WHERE s.id = $2`

/** Which owner may write to which session. The database's clock decides when a lease ends. */
export class Leases {
  readonly #database: Database
  readonly #places: Places
  readonly #now: () => number | null

  constructor(database: Database, places: Places, now: () => number | null) {
    this.#database = database
    this.#places = places
    this.#now = now
  }

  /** An attempt whose connection broke is repeated; then the fence grows twice, which does no harm. */
  async acquire(session: string, owner: string, ttlMs: number): Promise<Lease> {
    const values = [this.#now(), toColumn(owner), ttlMs, toColumn(session)]
    const { rows } = await this.#database.persist(() => this.#database.write(ACQUIRE, values))
    const [row] = rows
    if (!row) throw await this.#refusal(session, owner)
    const [fence, writes] = [integer(row, 'fence'), integer(row, 'writes')]
    this.#places.set(session, { fence, writes, head: integer(row, 'head'), inherited: writes })
    return { fence }
  }

  async renew(owner: string, ttlMs: number): Promise<void> {
    await this.#database.write(EXTEND, [this.#now(), toColumn(owner), ttlMs])
  }

  async release(owner: string): Promise<void> {
    await this.#database.write(RELEASE, [toColumn(owner)])
  }

  async #refusal(session: string, owner: string): Promise<MainstemError> {
    const [row] = await this.#database.read(HOLDER, [this.#now(), toColumn(session)])
    if (!row) return sessionNotFound(session)
    const holder = typeof row.owner === 'string' ? fromColumn(row.owner) : owner
    const leftMs = typeof row.left === 'number' ? row.left : 0
    return new MainstemError('fenced', `session ${session} is leased to ${holder}`, {
      retryAfter: Math.max(1, Math.ceil(leftMs / 1000)),
    })
  }
}
