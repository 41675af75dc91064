import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { CopyTarget, TargetState } from '../../copy/copyable.ts'
import { integer, type Row, text } from '../../row.ts'
import type { TableName } from '../../tables.ts'
import { type Files, filesIn, prepareBlobs, prepareDatabase, prepareDirectory } from '../files.ts'
import { checkAlone, type Lock } from '../lock.ts'
import { checkOurs, migrate } from '../schema.ts'
import { removeIndex } from '../search/text-index.ts'
import { lastKey } from './read-table.ts'
import { lockOf, readable, SqliteSource } from './sqlite-source.ts'
import { addRows } from './write-table.ts'

const USED = `SELECT EXISTS (SELECT 1 FROM session) OR EXISTS (SELECT 1 FROM receipt)
  OR EXISTS (SELECT 1 FROM spent) OR EXISTS (SELECT 1 FROM native)
  OR EXISTS (SELECT 1 FROM token) OR EXISTS (SELECT 1 FROM permit) OR EXISTS (SELECT 1 FROM audit) AS used`

const TABLES = [
  'log',
  'journal',
  'queued',
  'heard',
  'tail',
  'blob',
  'receipt',
  'spent',
  'session',
  'tally',
  'native',
  'token',
  'permit',
  'audit',
]

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
  async last(table: TableName): Promise<Row | undefined> {
    return lastKey(this.db, table)
  }

  async add(table: TableName, rows: readonly Row[]): Promise<void> {
    addRows(this.db, table, rows, (id) => this.blobs.takeSum(id))
  }

  async state(): Promise<TargetState> {
    const [unfinished, finished] = [this.#setting('copy'), this.#setting('copied')]
    return {
      ...(unfinished !== undefined && { unfinished }),
      ...(finished !== undefined && { finished }),
      isEmpty: integer(this.db.prepare(USED).get() ?? {}, 'used') === 0,
    }
  }

  async begin(source: string): Promise<void> {
    this.db.prepare("INSERT OR REPLACE INTO setting VALUES ('copy', ?)").run(source)
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

  async clear(): Promise<void> {
    const statements = TABLES.map((table) => `DELETE FROM ${table}`)
    this.db.exec(['BEGIN IMMEDIATE', ...statements, 'COMMIT'].join(';'))
    for (const id of readdirSync(this.files.blobs)) rmSync(join(this.files.blobs, id), { force: true })
  }

  async finish(source: string): Promise<void> {
    this.db.exec("BEGIN IMMEDIATE; DELETE FROM setting WHERE name = 'copy'")
    this.db.prepare("INSERT OR REPLACE INTO setting VALUES ('copied', ?)").run(source)
    this.db.exec('COMMIT')
  }

  #setting(name: string): string | undefined {
    const row = this.db.prepare('SELECT value FROM setting WHERE name = ?').get(name)
    return row && text(row, 'value')
  }
}
