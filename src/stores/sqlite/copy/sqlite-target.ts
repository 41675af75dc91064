import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { addedAgain } from '../../copy/copied-store.ts'
import type { CopyTarget } from '../../copy/copyable.ts'
import { integer, type Row, text } from '../../row.ts'
import { isFree, type TableName } from '../../tables.ts'
import { logTop } from '../apply-change.ts'
import { type Files, filesIn, prepareBlobs, prepareDatabase, prepareDirectory } from '../files.ts'
import { checkAlone, type Lock } from '../lock.ts'
import { checkOurs, migrate } from '../schema.ts'
import { removeIndex } from '../search/text-index.ts'
import { inserter, sessionStatements } from '../table-rows.ts'
import { lockOf, readable, SqliteSource, transact } from './sqlite-source.ts'

/** Opens the store in this directory to copy another one into it; creates it where there is none. */
export function openSqliteTarget(directory: string): CopyTarget {
  const files = filesIn(directory)
  prepareDirectory(files)
  const lock = lockOf(files)
  try {
    prepareDatabase(files)
    return new SqliteTarget(files, openDatabase(files, lock), lock)
  } catch (thrown) {
    lock[Symbol.dispose]()
    throw thrown
  }
}

function openDatabase(files: Files, lock: Lock): DatabaseSync {
  const db = new DatabaseSync(files.database)
  try {
    readable(files, () => {
      db.exec('PRAGMA busy_timeout = 5000; PRAGMA trusted_schema = OFF')
      checkOurs(db, files.database)
      if (!lock.isMarked) checkAlone(db, files.database)
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON')
      db.exec('PRAGMA checkpoint_fullfsync = ON; PRAGMA journal_size_limit = 67108864')
      migrate(db)
      lock.mark()
      prepareBlobs(files)
    })
    return db
  } catch (thrown) {
    db.close()
    throw thrown
  }
}

class SqliteTarget extends SqliteSource implements CopyTarget {
  async add(table: TableName, rows: readonly Row[]): Promise<void> {
    transact(this.db, () => {
      if (table === 'session') addSessions(this.db, rows)
      else addOthers(this.db, table, rows, (id) => this.blobs.takeSum(id))
    })
  }

  override async begin(source: string): Promise<void> {
    await super.begin(source)
    // Servers build it anew from the logs.
    removeIndex(this.files.index)
  }

  writeBlob(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    return this.blobs.copy(id, content)
  }

  /** This store continues the time at its newest receipt. */
  complete(): Promise<void> {
    return Promise.resolve()
  }

  override async clear(): Promise<void> {
    await super.clear()
    for (const id of readdirSync(this.files.blobs)) rmSync(join(this.files.blobs, id), { force: true })
  }
}

function addSessions(db: DatabaseSync, rows: readonly Row[]): void {
  const session = sessionStatements(db)
  let n = integer(db.prepare('SELECT coalesce(max(n), 0) AS n FROM session').get() ?? {}, 'n')
  for (const row of rows) {
    const numbered = { ...row, n: ++n, counted: row.last_frame }
    session.begin(numbered)
    if (row.record !== null) session.record(numbered)
    session.end(numbered)
    if (row.last_frame !== null) session.frameCounts(numbered)
  }
}

function addOthers(
  db: DatabaseSync,
  table: Exclude<TableName, 'session'>,
  rows: readonly Row[],
  contentOf: (blob: string) => number | undefined,
): void {
  const add = inserter(db, table, addedAgain(table))
  const sessions = db.prepare('SELECT n FROM session WHERE id = ?')
  let id = table === 'log' ? logTop(db) : 0
  for (const row of rows) {
    const n = isFree(table) ? undefined : sessions.get(text(row, 'session'))?.n
    if (table === 'log') add({ ...row, n, id: ++id })
    else if (table === 'blob') add({ ...row, n, content: contentOf(text(row, 'id')) })
    else add({ ...row, n })
  }
}
