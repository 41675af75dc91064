import { MainstemError } from '../../model/index.ts'
import { sessionNotFound } from '../refusals.ts'
import { fromColumn, toColumn } from './columns.ts'
import type { Database } from './database.ts'
import { type PostgresPlace, placeIn } from './session-change.ts'
import { checkSession, isIntact, sessionSum } from './table-rows.ts'

/** The clock of the database in milliseconds; `$1` is the clock of a test, or null. */
export const NOW = 'coalesce($1::float8, extract(epoch FROM clock_timestamp())::float8 * 1000)'

/** The servers that run or were killed just now, and when the last of these stops counting. */
export const LIVE = `SELECT name, ceil((max(until) OVER () - ${NOW}) / 1000)::int AS seconds FROM @node
  WHERE until > ${NOW} ORDER BY name`

const EXTEND = `INSERT INTO @owner AS held (id, until) VALUES ($2, ${NOW} + $3::float8)
  ON CONFLICT (id) DO UPDATE SET until = greatest(held.until, excluded.until)`

const RELEASE = 'DELETE FROM @owner WHERE id = $1'

/** Whether the lease of another owner than `$2` has not expired. */
export const IS_OTHERS = `s.owner IS NOT NULL AND s.owner <> $2
  AND EXISTS (SELECT FROM @owner o WHERE o.id = s.owner AND o.until > ${NOW})`

const ACQUIRED = { fence: 's.fence + 1', owner: '$2::text', inherited: 's.writes' }
const ACQUIRE = `WITH acquired AS (UPDATE @session s SET fence = ${ACQUIRED.fence}, owner = ${ACQUIRED.owner},
    inherited = ${ACQUIRED.inherited}, sum = ${sessionSum('s', ACQUIRED)}
    WHERE s.id = $4 AND NOT (${IS_OTHERS}) AND ${isIntact('s')}
    RETURNING s.fence, s.writes, s.head, s.inherited, s.journaled),
  extended AS (INSERT INTO @owner AS held (id, until) SELECT $2, ${NOW} + $3::float8 FROM acquired
    ON CONFLICT (id) DO UPDATE SET until = greatest(held.until, excluded.until))
  SELECT * FROM acquired`

const HOLDER = `SELECT s.owner, o.until - ${NOW} AS left, ${isIntact('s')} AS intact FROM @session s LEFT JOIN @owner o ON o.id = s.owner
  WHERE s.id = $2`

/** Which owner may write to which session. The database's clock decides when a lease ends. */
export class LeaseRows {
  readonly #database: Database
  readonly #held: HeldLeases
  readonly #now: () => number | null

  constructor(database: Database, held: HeldLeases, now: () => number | null) {
    this.#database = database
    this.#held = held
    this.#now = now
  }

  /** An attempt whose connection broke is repeated; then the fence grows twice, which does no harm. */
  async acquire(session: string, owner: string, ttlMs: number): Promise<PostgresPlace> {
    const values = [this.#now(), toColumn(owner), ttlMs, toColumn(session)]
    const asked = this.#held.now()
    const { rows } = await this.#database.persist(() => this.#database.write(ACQUIRE, values))
    const [row] = rows
    if (!row) throw await this.#refusal(session, owner)
    this.#held.extend(owner, ttlMs, asked)
    return { ...placeIn(row), lease: { owner, at: this.#held.now() } }
  }

  async renew(owner: string, ttlMs: number): Promise<void> {
    const asked = this.#held.now()
    await this.#database.write(EXTEND, [this.#now(), toColumn(owner), ttlMs])
    this.#held.extend(owner, ttlMs, asked)
  }

  async release(owner: string): Promise<void> {
    this.#held.end(owner)
    await this.#database.write(RELEASE, [toColumn(owner)])
  }

  async #refusal(session: string, owner: string): Promise<MainstemError> {
    const [row] = await this.#database.read(HOLDER, [this.#now(), toColumn(session)])
    if (!row) return sessionNotFound(session)
    checkSession(session, row)
    const holder = typeof row.owner === 'string' ? fromColumn(row.owner) : owner
    const leftMs = typeof row.left === 'number' ? row.left : 0
    return new MainstemError('fenced', `session ${session} is leased to ${holder}`, {
      retryAfter: Math.max(1, Math.ceil(leftMs / 1000)),
    })
  }
}

/** The proof that a session was leased to an owner at a time of this process. */
export interface LeaseProof {
  owner: string
  at: number
}

/**
 * The leases that this process can rely on: while one is valid, no other server can write to the session. Measured by
 * the clock of this process from when a lease was asked for, so it ends here before it ends in the database.
 */
export class HeldLeases {
  readonly #clock: () => number
  /** For each owner, the time in which its leases have not expired. */
  readonly #held = new Map<string, { since: number; until: number }>()

  constructor(clock: () => number) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock()
  }

  /** A lease that was asked for at `asked` has been granted. Leases that had expired meanwhile may be others' now. */
  extend(owner: string, ttlMs: number, asked: number): void {
    const now = this.now()
    const held = this.#held.get(owner)
    const until = asked + ttlMs
    if (held && now < held.until) held.until = Math.max(held.until, until)
    else this.#held.set(owner, { since: now, until })
  }

  /** Call before the leases end in the database. */
  end(owner: string): void {
    this.#held.delete(owner)
  }

  /** Whether a session with this proof is still leased to its owner. */
  covers({ owner, at }: LeaseProof): boolean {
    const held = this.#held.get(owner)
    return held !== undefined && at >= held.since && this.now() < held.until
  }
}
