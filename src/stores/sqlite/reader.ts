import { statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { MainstemError } from '../../model/index.ts'
import { FAILED_OUTCOMES } from '../../model/outcome/is-failed.ts'
import { matches } from '../checksum.ts'
import {
  type Bounds,
  QUEUE,
  queuedRow,
  type RowPage,
  type RowSource,
  type SessionPageQuery,
  type SessionRows,
  type TypedPage,
} from '../log-store/rows.ts'
import { storageFailed } from '../refusals.ts'
import { bytes, integer, type Row } from '../row.ts'
import type { TypeQuery } from '../store.ts'
import { blobSum } from './blobs.ts'
import { JOURNAL_IDS } from './schema.ts'
import { rowColumns, SESSION_COUNTERS, SUMS, selectOf } from './table-rows.ts'
import { typedRows } from './typed-rows.ts'

/** Larger than the number of any session. */
const ALL = Number.MAX_SAFE_INTEGER

/** The rows that have the entries from `:from` to `:to`. */
const LOG = `FROM log WHERE session = :n AND first <= :to
  AND first >= coalesce((SELECT max(first) FROM log WHERE session = :n AND first <= :from), 0)`

const JOURNAL = `SELECT ${rowColumns('journal')} FROM journal
  WHERE id IN (${JOURNAL_IDS} ORDER BY j.id LIMIT :limit) ORDER BY id`

/** With the queue in the same statement, so that both are of the same commit. */
const SESSION = selectOf(
  'session',
  `, (SELECT min(first) FROM log WHERE session = s.n) AS log_first, (SELECT json_group_array(json_array(${QUEUE.join(', ')}))
  FROM (SELECT * FROM queued WHERE session = s.n ORDER BY turn)) AS queue`,
)

/** Not an index: it would be written with every change of a record. A damaged record is read, and then refused. */
const FAILED = `(NOT json_valid(s.record) OR (s.status <> 'busy'
  AND coalesce(s.record ->> '$.lastOutcome' IN (${FAILED_OUTCOMES.map((one) => `'${one}'`).join(', ')}), false)))`

type ReadStatements = ReturnType<typeof statementsOf>

function statementsOf(db: DatabaseSync) {
  return {
    begin: db.prepare('BEGIN'),
    commit: db.prepare('COMMIT'),
    counters: db.prepare(`${SESSION_COUNTERS} WHERE s.id = ?`),
    number: db.prepare('SELECT n FROM session WHERE id = ?'),
    lastSession: db.prepare('SELECT coalesce(max(n), 0) AS n FROM session'),
    log: db.prepare(`SELECT ${rowColumns('log')} ${LOG} ORDER BY first`),
    // Computed from the headers of the rows, without reading text.
    logSize: db.prepare(`SELECT coalesce(sum(octet_length(body)), 0) AS bytes ${LOG}`),
    journal: db.prepare(JOURNAL),
    session: db.prepare(`${SESSION} WHERE s.id = ?`),
    queued: db.prepare(`${selectOf('queued')} WHERE s.id = ? AND t.turn = ?`),
    receipt: db.prepare(`${selectOf('receipt')} WHERE t.id = ?`),
    lastReceipt: db.prepare('SELECT coalesce(max(at), 0) AS at FROM receipt'),
    blob: db.prepare('SELECT session, sum FROM blob WHERE id = ?'),
    tally: db.prepare('SELECT status, sessions FROM tally WHERE sessions > 0'),
    natives: db.prepare('SELECT principal FROM native WHERE id = ?'),
    spent: db.prepare('SELECT * FROM spent WHERE principal = :principal OR :principal IS NULL'),
  }
}

/** A read-only connection on the main thread. Sees commits at once. */
export class SqliteReader implements RowSource {
  readonly sums = SUMS
  readonly #file: string
  readonly #othersThan: (owner: string) => readonly string[]
  #db: DatabaseSync | undefined
  #statements: ReadStatements | undefined
  #inode: number | undefined
  #closed = false

  /** `othersThan` lists the owners whose leases have not expired, but for one. */
  constructor(file: string, othersThan: (owner: string) => readonly string[]) {
    this.#file = file
    this.#othersThan = othersThan
  }

  counters(sessions: readonly string[]): Row[] {
    return this.#ask(({ counters }) =>
      sessions.map((session) => counters.get(session)).filter((row) => row !== undefined),
    )
  }

  /** The rows of a query about a table that belongs to no session. */
  rowsOf(sql: string, values: readonly SQLInputValue[] = []): Row[] {
    return this.#snapshot((_, db) => db.prepare(sql).all(...values))
  }

  /** The number of a session, also of a damaged one. */
  number(session: string): number | undefined {
    return this.#ask(({ number }) => {
      const row = number.get(session)
      return row && integer(row, 'n')
    })
  }

  lastSession(): number {
    return this.#ask(({ lastSession }) => integer(lastSession.get() ?? {}, 'n'))
  }

  /** A long log takes many reads; other tasks run between them. */
  async log(session: string, bounds: Bounds): Promise<RowPage | undefined> {
    await setImmediate()
    return this.#snapshot(({ counters: find, log, logSize }) => {
      const counters = find.get(session)
      if (!counters || integer(counters, 'head') <= bounds.after) return counters && { counters, rows: [] }
      const { range } = fitting(logSize, integer(counters, 'n'), bounds)
      return { counters, rows: log.all(range) }
    })
  }

  async typed(session: string, query: TypeQuery): Promise<TypedPage | undefined> {
    await setImmediate()
    return this.#snapshot(({ counters: find }, db) => {
      const counters = find.get(session)
      return counters && { counters, ...typedRows(db, integer(counters, 'n'), query) }
    })
  }

  logSize(session: string, bounds: Bounds): number {
    return this.#snapshot(({ number, logSize }) => {
      const row = number.get(session)
      return row ? fitting(logSize, integer(row, 'n'), bounds).size : 0
    })
  }

  journal(session: string, { after, limit, maxBytes }: Bounds): RowPage | undefined {
    return this.#snapshot(({ counters: find, journal }) => {
      const counters = find.get(session)
      if (!counters) return undefined
      const rows: Row[] = []
      let [size, last] = [0, after]
      for (const row of journal.iterate({ n: integer(counters, 'n'), after, limit })) {
        rows.push(row)
        size += bytes(row, 'body').length
        last = integer(row, 'last')
        if (size >= maxBytes) return { counters, rows }
      }
      return { counters, rows, kept: rows.length < limit ? last : undefined }
    })
  }

  session(session: string): SessionRows | undefined {
    return this.#ask(({ session: find }) => {
      const row = find.get(session)
      return row && withQueue(row)
    })
  }

  sessions({
    principals,
    status,
    asking,
    queued,
    failed,
    acquirableBy,
    before,
    below,
    limit,
  }: SessionPageQuery): SessionRows[] {
    const where = ['s.record IS NOT NULL']
    const values: (string | number)[] = []
    const add = (condition: string, value: string | number | undefined) => {
      if (value === undefined) return
      where.push(condition)
      values.push(value)
    }
    if (principals)
      where.push(`s.principal IN (${principals.map((one) => values.push(one) && '?').join(', ')})`)
    add('s.status = ?', status)
    if (asking !== undefined) where.push(`s.asking = ${asking ? 1 : 0}`)
    if (queued !== undefined) where.push(queued ? 's.queued > 0' : 's.queued = 0')
    if (failed !== undefined) where.push(failed ? FAILED : `NOT ${FAILED}`)
    const others = acquirableBy === undefined ? [] : this.#othersThan(acquirableBy)
    for (const owner of others) add('s.owner IS NOT ?', owner)
    return this.#ask(({ number }, db) => {
      const from = below ?? (before === undefined ? undefined : number.get(before)?.n) ?? ALL
      const query = db.prepare(
        `${SESSION} WHERE ${where.join(' AND ')} AND s.n < ? ORDER BY s.n DESC LIMIT ?`,
      )
      return query.all(...values, Number(from), limit).map(withQueue)
    })
  }

  queued(session: string, turn: number): Row | undefined {
    return this.#ask(({ queued }) => queued.get(session, turn))
  }

  receipt(id: string): Row | undefined {
    return this.#ask(({ receipt }) => receipt.get(id))
  }

  /** The time of the newest receipt, in open time. */
  lastReceiptAt(): number {
    return this.#ask(({ lastReceipt }) => integer(lastReceipt.get() ?? {}, 'at'))
  }

  /** Compares the checksum of a blob's bytes with its row. A blob that no entry refers to has none. */
  isBlob(id: string, content: number): boolean {
    return this.#ask(({ blob }) => {
      const row = blob.get(id)
      return !row || matches(row.sum, () => blobSum(id, integer(row, 'session'), content))
    })
  }

  counts(): Row[] {
    return this.#ask(({ tally }) => tally.all())
  }

  natives(id: string): Row[] {
    return this.#ask(({ natives }) => natives.all(id))
  }

  spent(principal?: string): Row[] {
    return this.#ask(({ spent }) => spent.all({ principal: principal ?? null }))
  }

  /**
   * Call after a failure of the writer. Reopens if the file was replaced. Otherwise stays open, because SQLite knows
   * which commits failed only while a connection has the database open.
   */
  recheck(): void {
    if (statSync(this.#file, { throwIfNoEntry: false })?.ino !== this.#inode) this.#reset()
  }

  close(): void {
    this.#closed = true
    this.#reset()
  }

  /** The next query reopens the file. */
  #reset(): void {
    const db = this.#db
    this.#db = undefined
    this.#statements = undefined
    db?.close()
  }

  /** All statements see the database as it is now: a removal in between would look like damage. */
  #snapshot<T>(question: (statements: ReadStatements, db: DatabaseSync) => T): T {
    return this.#ask((statements, db) => {
      statements.begin.run()
      try {
        return question(statements, db)
      } finally {
        statements.commit.run()
      }
    })
  }

  #ask<T>(question: (statements: ReadStatements, db: DatabaseSync) => T): T {
    try {
      if (this.#closed) throw new TypeError('it is closed')
      this.#db ??= this.#open()
      this.#statements ??= statementsOf(this.#db)
      return question(this.#statements, this.#db)
    } catch (thrown) {
      // A refusal is not a failure of the file.
      if (!(thrown instanceof MainstemError)) this.#reset()
      throw storageFailed('cannot read the store', thrown)
    }
  }

  #open(): DatabaseSync {
    this.#inode = statSync(this.#file).ino
    const db = new DatabaseSync(this.#file, { readOnly: true })
    db.exec('PRAGMA busy_timeout = 1000')
    return db
  }
}

/** Halves the range until its text fits, but keeps at least the first row. */
function fitting(logSize: ReadStatements['logSize'], n: number, { after, limit, maxBytes }: Bounds) {
  const from = after + 1
  for (let to = after + limit; ; to = from + Math.floor((to - from) / 2)) {
    const range = { n, from, to }
    const size = integer(logSize.get(range) ?? {}, 'bytes')
    if (size <= maxBytes || to <= from) return { range, size }
  }
}

function withQueue({ queue, ...row }: Row): SessionRows {
  const { n } = row
  const prompts: unknown[][] = JSON.parse(String(queue))
  return { row, queue: prompts.map((prompt) => queuedRow({ n }, prompt)) }
}
