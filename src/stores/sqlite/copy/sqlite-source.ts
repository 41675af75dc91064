import { existsSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MainstemError } from '../../../model/outcome/mainstem-error.ts'
import { matches } from '../../checksum.ts'
import { copiedRow, sizeOf } from '../../copy/copied-row.ts'
import type { CopySource, CopyTotals } from '../../copy/copyable.ts'
import { pagesOf } from '../../copy/page.ts'
import { inUse } from '../../copy/refusals.ts'
import { damaged } from '../../damaged.ts'
import { integer, type Row } from '../../row.ts'
import { storageFailed } from '../../storage-failed.ts'
import type { TableName } from '../../tables.ts'
import { Blobs, blobSum } from '../blobs.ts'
import { type Files, filesIn } from '../files.ts'
import { type Lock, tryLock } from '../lock.ts'
import { checkCurrent, checkFinished, checkIntact } from '../schema.ts'
import { SUMS } from '../sums.ts'
import { rowsAfter } from './read-table.ts'

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
  protected readonly blobs: Blobs
  readonly #lock: Lock | undefined

  constructor(files: Files, db: DatabaseSync, lock: Lock | undefined) {
    this.name = realpathSync(files.database)
    this.files = files
    this.db = db
    this.blobs = new Blobs(files.blobs, true)
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
