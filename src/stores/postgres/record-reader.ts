import { isDamaged, SessionRecord } from '../../model/index.ts'
import { type AcceptedPrompt, isWhole } from '../../model/queue-preview.ts'
import { toDailyUsage } from '../daily-usage.ts'
import { damaged } from '../damaged.ts'
import { RECORD_BYTES } from '../read-bytes.ts'
import { receiptId } from '../receipt-id.ts'
import { integer, type Row, text } from '../row.ts'
import type { DailyUsage, FrameCounts, Receipt, SessionQuery, StoredState } from '../store.ts'
import { fromColumn, toColumn } from './columns.ts'
import type { Database } from './database.ts'
import { IS_OTHERS } from './leases.ts'
import { sums } from './prepared-batch.ts'

const queue = (column: string) => `array(SELECT ${column} FROM @queued q WHERE q.session = s.n ORDER BY turn)`

const SIZE = `(octet_length(r.body)
  + coalesce((SELECT sum(octet_length(q.body)) FROM @queued q WHERE q.session = s.n), 0))::float8`

/** With the queue in the same statement, so that both are of the same commit. */
const RECORD = `SELECT s.n, s.id, s.head, s.at, s.earliest, s.earliest_frame AS "earliestFrame",
  s.last_frame AS "lastFrame", s.frames, s.mapped, s.unmapped, s.malformed, s.oversized,
  r.principal, r.status, r.asking, r.sum, r.body, ${SIZE} AS size,
  ${queue('turn::float8')} AS turns, ${queue('sum::float8')} AS sums, ${queue('body')} AS queue
  FROM @record r JOIN @session s ON s.n = r.session`

const QUEUED = `SELECT q.turn::float8 AS turn, q.sum::float8 AS sum, q.body, q.whole_sum::float8 AS "wholeSum", q.whole
  FROM @queued q JOIN @session s ON s.n = q.session WHERE s.id = $1 AND q.turn = $2`

const STATUSES = SessionRecord.shape.status.options

/** Reads records, receipts, and figures of all sessions. */
export class RecordReader {
  readonly #database: Database
  readonly #now: () => number | null

  constructor(database: Database, now: () => number | null) {
    this.#database = database
    this.#now = now
  }

  async record(session: string): Promise<SessionRecord | undefined> {
    const [row] = await this.#database.read(`${RECORD} WHERE s.id = $1`, [toColumn(session)])
    return row && toRecord(row)
  }

  async queuedPrompt(session: string, turn: number): Promise<AcceptedPrompt | undefined> {
    const [row] = await this.#database.read(QUEUED, [toColumn(session), turn])
    return row && toPrompt(session, row)
  }

  /** Skips damaged records, so that they do not hide the others. Loading one by id reports the damage. */
  async records(query: SessionQuery): Promise<SessionRecord[]> {
    const { limit, maxBytes = RECORD_BYTES } = query
    const found: SessionRecord[] = []
    let below: number | undefined
    let size = 0
    for (;;) {
      const wanted = limit - found.length
      const rows = wanted > 0 ? await this.#page(query, below, wanted, maxBytes - size) : []
      for (const row of rows) {
        below = integer(row, 'n')
        const record = intactRecord(row)
        if (!record) continue
        size += integer(row, 'size')
        if (size > maxBytes && found.length > 0) return found
        found.push(record)
      }
      // A page of large records ends early.
      if (rows.length === 0 || wanted <= 0) return found
    }
  }

  async receipt(scope: string, key: string): Promise<Receipt | undefined> {
    const [row] = await this.#database.read('SELECT id, session, sum, body FROM @receipt WHERE id = $1', [
      receiptId(scope, key),
    ])
    if (!row) return undefined
    const [id, session, body] = [text(row, 'id'), fromColumn(text(row, 'session')), text(row, 'body')]
    if (row.sum !== sums.receipt({ id, session, text: body }))
      throw damaged('an idempotency key', { session })
    return JSON.parse(body)
  }

  async counts(): Promise<Map<SessionRecord['status'], number>> {
    const rows = await this.#database.read('SELECT status, count(*) AS sessions FROM @record GROUP BY status')
    const counted = new Map(rows.map((row) => [text(row, 'status'), integer(row, 'sessions')]))
    return new Map(
      STATUSES.flatMap((status) => {
        const count = counted.get(status)
        return count === undefined ? [] : [[status, count] as const]
      }),
    )
  }

  async nativeOwners(native: string): Promise<string[]> {
    const sql = 'SELECT principal FROM @native WHERE id = $1 ORDER BY principal'
    const rows = await this.#database.read(sql, [toColumn(native)])
    return rows.map((row) => fromColumn(text(row, 'principal')))
  }

  async dailyUsage(principal?: string): Promise<DailyUsage[]> {
    const sql = 'SELECT * FROM @spent WHERE $1::text IS NULL OR principal = $1'
    const rows = await this.#database.read(sql, [principal === undefined ? null : toColumn(principal)])
    return rows.map((row) => {
      const [whose = '', agent = '', model = ''] = ['principal', 'agent', 'model'].map((column) =>
        fromColumn(text(row, column)),
      )
      return toDailyUsage({ ...row, principal: whose, agent, model })
    })
  }

  /** The first of them, and those that fit into `room` with it. */
  #page(query: SessionQuery, below: number | undefined, count: number, room: number): Promise<Row[]> {
    const { principal, status, asking, acquirableBy, before } = query
    // The first two are those of the leases.
    const values: unknown[] = [this.#now(), acquirableBy === undefined ? null : toColumn(acquirableBy)]
    const where = ['($1::float8 IS NULL OR $2::text IS NULL OR true)']
    const add = (condition: string, value: unknown) => where.push(`${condition} $${values.push(value)}`)
    if (principal !== undefined) add('r.principal =', toColumn(principal))
    if (status !== undefined) add('r.status =', status)
    if (asking !== undefined) where.push(asking ? 'r.asking' : 'NOT r.asking')
    if (acquirableBy !== undefined) where.push(`NOT (${IS_OTHERS})`)
    if (below !== undefined) add('r.session <', below)
    else if (before !== undefined) {
      const older = `coalesce((SELECT n FROM @session WHERE id = $${values.push(toColumn(before))}), 9223372036854775807)`
      where.push(`r.session < ${older}`)
    }
    const page = `SELECT r.session, ${SIZE} AS size FROM @record r JOIN @session s ON s.n = r.session
      WHERE ${where.join(' AND ')} ORDER BY r.session DESC LIMIT $${values.push(count)}`
    const sums = `SELECT session, sum(size) OVER (ORDER BY session DESC) - size AS before FROM (${page}) p`
    const fitting = `SELECT session FROM (${sums}) x WHERE before <= $${values.push(room)}`
    return this.#database.read(`${RECORD} WHERE s.n IN (${fitting}) ORDER BY s.n DESC`, values)
  }
}

function toRecord(row: Row): SessionRecord {
  const session = fromColumn(text(row, 'id'))
  const [principal, status] = [fromColumn(text(row, 'principal')), fromColumn(text(row, 'status'))]
  const body = text(row, 'body')
  if (row.sum !== sums.record(session, { principal, status, asking: row.asking === true, text: body })) {
    throw damaged('the record', { session })
  }
  const state: StoredState = JSON.parse(body)
  const [earliest, earliestFrame] = [integer(row, 'earliest'), integer(row, 'earliestFrame')]
  return {
    ...state,
    queue: queueIn(session, row),
    head: integer(row, 'head'),
    updatedAt: integer(row, 'at'),
    ...(row.lastFrame !== null && countsIn(row)),
    ...(earliest > 1 && { earliest }),
    ...(earliestFrame > 1 && { earliestFrame }),
  }
}

function intactRecord(row: Row): SessionRecord | undefined {
  try {
    return toRecord(row)
  } catch (thrown) {
    if (isDamaged(thrown, fromColumn(text(row, 'id')))) return undefined
    throw thrown
  }
}

function queueIn(session: string, { turns, sums: stored, queue: texts }: Row): SessionRecord['queue'] {
  if (!Array.isArray(turns) || !Array.isArray(stored) || !Array.isArray(texts)) return []
  return texts.map((text: string, index) => {
    if (stored[index] !== sums.queued(session, { turn: Number(turns[index]), text })) {
      throw damaged('the queue', { session })
    }
    return JSON.parse(text)
  })
}

function toPrompt(session: string, row: Row): AcceptedPrompt {
  const turn = integer(row, 'turn')
  const body = text(row, 'body')
  if (row.sum !== sums.queued(session, { turn, text: body })) throw damaged('the queue', { session })
  if (isWhole(JSON.parse(body))) return JSON.parse(body)
  const whole = row.whole === null ? '' : text(row, 'whole')
  if (row.wholeSum !== sums.queued(session, { turn, text: whole })) throw damaged('the queue', { session })
  return JSON.parse(whole)
}

export function countsIn(row: Row): FrameCounts {
  const coverage = {
    frames: integer(row, 'frames'),
    mapped: integer(row, 'mapped'),
    unmapped: integer(row, 'unmapped'),
    malformed: integer(row, 'malformed'),
    oversized: integer(row, 'oversized'),
  }
  return { frames: integer(row, 'lastFrame'), coverage }
}
