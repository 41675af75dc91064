import { existsSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MainstemError } from '../../../model/outcome/mainstem-error.ts'
import { matches } from '../../checksum.ts'
import {
  type CopySource,
  type CopyTotals,
  copiedRow,
  inUse,
  pagesOf,
  sizeOf,
  sourceChanged,
} from '../../copy/copyable.ts'
import { damaged, storageFailed } from '../../refusals.ts'
import { integer, type Row, text } from '../../row.ts'
import { TABLES, type TableName } from '../../tables.ts'
import { BlobFiles, blobSum } from '../blobs.ts'
import { type Files, filesIn } from '../files.ts'
import { type Lock, tryLock } from '../lock.ts'
import { checkCurrent, checkFinished, checkIntact, JOURNAL_IDS } from '../schema.ts'
import { ORDER, SUMS, selectOf } from '../table-rows.ts'

const SQLITE_NOTADB = 26

const TOTALS = `SELECT (SELECT count(*) FROM session) AS sessions,
  (SELECT coalesce(sum(last - first + 1), 0) FROM log) AS entries`

/**
 * Opens the store in this directory to copy it. It is not changed. No server can open it meanwhile, unless it is read
 * `online`: then everything is read as it is now, while a server may go on writing.
 */
export function openSqliteSource(directory: string, { online = false } = {}): CopySource {
  const files = filesIn(directory)
  if (!existsSync(files.database)) {
    throw new MainstemError('not_found', `there is no store in ${directory}`, { advice: 'Check the path.' })
  }
  const db = new DatabaseSync(files.database, { readOnly: true })
  try {
    db.exec('PRAGMA busy_timeout = 5000')
    readable(files, () => {
      checkCurrent(db, files.database)
      checkFinished(db, files.database)
      checkIntact(db, files.database)
      // The first read of the transaction fixes what all others see.
      if (online) db.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
    })
    return new SqliteSource(files, db, online ? undefined : lockOf(files))
  } catch (thrown) {
    db.close()
    throw thrown
  }
}

/** A server deletes the blobs of a session at once; its rows are still in what a backup reads. */
function removedMeanwhile(what: string): MainstemError {
  return new MainstemError('conflict', `${what} belongs to a session that was deleted meanwhile`, {
    advice: 'Run the command again.',
  })
}

/** Reports a file that SQLite cannot read as one that is not ours. */
export function readable<T>({ database }: Files, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    const isOther = thrown instanceof Error && 'errcode' in thrown && thrown.errcode === SQLITE_NOTADB
    if (isOther) throw new MainstemError('storage_failed', `${database} is not a database of Mainstem`)
    throw storageFailed(`cannot open ${database}`, thrown)
  }
}

/** Keeps servers out while the store is copied. */
export function lockOf({ database, lock: path }: Files): Lock {
  const lock = tryLock(path)
  if (lock) return lock
  throw inUse(
    `a server has ${database} open`,
    'Stop it first: `mainstem daemon stop` if the command line started it.',
  )
}

export class SqliteSource implements CopySource {
  readonly name: string
  protected readonly db: DatabaseSync
  protected readonly files: Files
  protected readonly blobs: BlobFiles
  readonly #lock: Lock | undefined

  constructor(files: Files, db: DatabaseSync, lock: Lock | undefined) {
    this.name = realpathSync(files.database)
    this.files = files
    this.db = db
    this.blobs = new BlobFiles(files.blobs, true)
    this.#lock = lock
  }

  async *read(table: TableName, after?: Row): AsyncGenerator<Row[]> {
    for (const page of pagesOf(rowsAfter(this.db, table, after), sizeOf))
      yield page.map((row) => copiedRow(SUMS, table, row))
  }

  async totals(): Promise<CopyTotals> {
    const row = this.db.prepare(TOTALS).get() ?? {}
    return { sessions: integer(row, 'sessions'), entries: integer(row, 'entries') }
  }

  async *readBlob(id: string): AsyncGenerator<Uint8Array> {
    const row = this.db.prepare('SELECT session, sum FROM blob WHERE id = ?').get(id)
    const stats = statSync(join(this.files.blobs, id), { throwIfNoEntry: false })
    if (row && !stats && !this.#lock) throw removedMeanwhile(`blob ${id}`)
    if (!row || !stats) throw damaged(`blob ${id}`)
    const isIntact = (content: number) =>
      matches(row.sum, () => blobSum(id, integer(row, 'session'), content))
    yield* this.blobs.read({ id, bytes: stats.size }, isIntact)
  }

  async openTime(): Promise<number> {
    return integer(this.db.prepare('SELECT coalesce(max(at), 0) AS at FROM receipt').get() ?? {}, 'at')
  }

  /** The lock keeps servers out until the end. */
  checkIdle(): Promise<void> {
    return Promise.resolve()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.db.close()
    this.#lock?.[Symbol.dispose]()
  }
}

/** The rows of a table in the order of a copy, after one that was copied already. */
export function rowsAfter(db: DatabaseSync, table: TableName, after: Row | undefined): Iterable<Row> {
  const order = ORDER[table]
  if (table === 'journal') return journal(db, after)
  if (order.length === 0) return db.prepare(selectOf(table)).iterate()
  if (!after) return db.prepare(`${selectOf(table)} ORDER BY ${order.join(', ')}`).iterate()
  const places = order.map(() => '?').join(', ')
  const sql = `${selectOf(table)} WHERE (${order.join(', ')}) > (${places}) ORDER BY ${order.join(', ')}`
  return db.prepare(sql).iterate(...placeOf(db, table, after))
}

/** The key of the last row, if the table has an order. */
export function lastKey(db: DatabaseSync, table: TableName): Row | undefined {
  // Rows are copied in the order of sessions, and their ids follow it.
  const order = table === 'journal' ? ['t.id'] : ORDER[table]
  if (order.length === 0) return undefined
  const sql = `${selectOf(table)} ORDER BY ${order.map((name) => `${name} DESC`).join(', ')} LIMIT 1`
  const row = db.prepare(sql).get()
  return row && Object.fromEntries(TABLES[table].key.map((name) => [name, row[name]]))
}

/** The number of a session that was copied already. */
export function numberOf(db: DatabaseSync, session: string): number {
  const row = db.prepare('SELECT n FROM session WHERE id = ?').get(session)
  if (!row) throw sourceChanged(`session ${session}`)
  return integer(row, 'n')
}

/** Where a row is in the order of its table. */
function placeOf(db: DatabaseSync, table: TableName, key: Row): (number | string)[] {
  if (table === 'receipt' || table === 'audit') return [text(key, 'id')]
  const session = text(key, 'session')
  const n = numberOf(db, session)
  if (table === 'session') return [n]
  if (table === 'queued') return [n, integer(key, 'turn')]
  if (table === 'blob') return [n, text(key, 'id')]
  const row = db.prepare('SELECT id FROM log WHERE session = ? AND first = ?').get(n, integer(key, 'first'))
  if (!row) throw sourceChanged(`the log of session ${session}`)
  return [integer(row, 'id')]
}

/** By sessions, because the index of the journal has no other order that is the same in every database. */
function* journal(db: DatabaseSync, after: Row | undefined): Generator<Row> {
  const frames = db.prepare(`${selectOf('journal')} WHERE t.id IN (${JOURNAL_IDS}) ORDER BY t.id`)
  const from = after ? numberOf(db, text(after, 'session')) : 0
  for (const row of db.prepare('SELECT n FROM session WHERE n >= ? ORDER BY n').iterate(from)) {
    const n = integer(row, 'n')
    yield* frames.iterate({ n, after: after && n === from ? integer(after, 'last') : -1 })
  }
}
