import { existsSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MainstemError } from '../../../model/outcome/mainstem-error.ts'
import { matches } from '../../checksum.ts'
import { CopiedStore, type CopyStatements } from '../../copy/copied-store.ts'
import { type CopySource, inUse, pagesOf, sizeOf } from '../../copy/copyable.ts'
import { damaged, storageFailed } from '../../refusals.ts'
import { integer, type Row, text } from '../../row.ts'
import type { TableName } from '../../tables.ts'
import { BlobFiles, blobSum } from '../blobs.ts'
import { type Files, filesIn } from '../files.ts'
import { type Lock, tryLock } from '../lock.ts'
import { checkCurrent, checkFinished, checkIntact, JOURNAL_IDS } from '../schema.ts'
import { SUMS, selectOf, toInput } from '../table-rows.ts'

const SQLITE_NOTADB = 26

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

/** `@` stands before the name of a table, for databases with schemas. */
const TABLE = /@(?=[a-z])/g

function statementsOf(db: DatabaseSync): CopyStatements {
  const all = (sql: string, values: readonly unknown[] = []) => {
    const named = Object.fromEntries(values.map((value, index) => [`$${index + 1}`, toInput(value)]))
    return db.prepare(sql.replaceAll(TABLE, '')).all(named)
  }
  return {
    ...{ sums: SUMS, number: 's.n', own: ['heard', 'tail', 'tally'], selectOf },
    lastCommit: 'SELECT max(id) AS id FROM @log',
    toColumn: (name) => name,
    named: (_, row) => row,
    read: async (sql, values) => all(sql, values),
    readAll: async (sql) => all(sql),
    write: async (statements) =>
      transact(db, () => {
        for (const [sql, values] of statements) all(sql, values)
      }),
  }
}

export function transact(db: DatabaseSync, work: () => void): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    work()
    db.exec('COMMIT')
  } catch (thrown) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw thrown
  }
}

export class SqliteSource extends CopiedStore implements CopySource {
  readonly name: string
  protected readonly db: DatabaseSync
  protected readonly files: Files
  protected readonly blobs: BlobFiles
  readonly #lock: Lock | undefined

  constructor(files: Files, db: DatabaseSync, lock: Lock | undefined) {
    super(statementsOf(db))
    this.name = realpathSync(files.database)
    this.files = files
    this.db = db
    this.blobs = new BlobFiles(files.blobs, true)
    this.#lock = lock
  }

  /** The index of the journal has no order that is the same in every database. */
  protected override pages(table: TableName, after: Row | undefined): AsyncIterable<Row[]> {
    return table === 'journal' ? this.#journal(after) : super.pages(table, after)
  }

  async *#journal(after: Row | undefined): AsyncGenerator<Row[]> {
    const frames = this.db.prepare(`${selectOf('journal')} WHERE t.id IN (${JOURNAL_IDS}) ORDER BY t.id`)
    const from = after ? await this.numberOf(text(after, 'session')) : 0
    for (const row of this.db.prepare('SELECT n FROM session WHERE n >= ? ORDER BY n').iterate(from)) {
      const n = integer(row, 'n')
      yield* pagesOf(frames.iterate({ n, after: after && n === from ? integer(after, 'last') : -1 }), sizeOf)
    }
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
