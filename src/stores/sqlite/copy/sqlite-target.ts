import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { CopyTarget, TargetState } from '../../copy/copyable.ts'
import { integer, type Row, text } from '../../row.ts'
import { columnsOf, isFree, type TableName } from '../../tables.ts'
import { type Files, filesIn, prepareBlobs, prepareDatabase, prepareDirectory } from '../files.ts'
import { checkAlone, type Lock } from '../lock.ts'
import { logTop } from '../removal.ts'
import { checkOurs, migrate } from '../schema.ts'
import { removeIndex } from '../search/text-index.ts'
import { inserter, insertInto, same, toInput, withSums } from '../table-rows.ts'
import { lastKey, lockOf, numberOf, readable, SqliteSource } from './sqlite-source.ts'

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

/** Adds rows with the checksums of this store. `contentOf` returns the checksum of a blob that was written before. */
export function addRows(
  db: DatabaseSync,
  table: TableName,
  rows: readonly Row[],
  contentOf: (blob: string) => number | undefined,
): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    if (table === 'session') addSessions(db, rows)
    else addOthers(db, table, rows, contentOf)
    db.exec('COMMIT')
  } catch (thrown) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw thrown
  }
}

const HEARD = { last: 'last_frame', ...same('frames', 'mapped', 'unmapped', 'malformed', 'oversized') }

/** A session is in three tables. */
function addSessions(db: DatabaseSync, rows: readonly Row[]): void {
  const first = ['n', 'earliest', 'earliest_frame', 'queued', 'edge_sum', 'fence', 'lease_sum']
  const add = insertInto(db, 'session', { id: 'session', ...same(...first) })
  // An update, because the triggers that count sessions and native conversations follow updates.
  const setRecord = db.prepare(
    'UPDATE session SET principal = ?, status = ?, asking = ?, record = ?, sum = ? WHERE n = ?',
  )
  const ends = same('head', 'at', 'journaled', 'counted')
  const addTail = insertInto(db, 'tail', { session: 'n', ...ends, sum: 'tail_sum' })
  const addHeard = insertInto(db, 'heard', { session: 'n', ...HEARD, sum: 'heard_sum' })
  let n = integer(db.prepare('SELECT coalesce(max(n), 0) AS n FROM session').get() ?? {}, 'n')
  for (const row of rows) {
    n++
    const summed = withSums('session', { ...row, n, counted: row.last_frame, ends: row.head })
    add(summed)
    if (row.record !== null) {
      const columns = ['principal', 'status', 'asking', 'record', 'record_sum', 'n']
      setRecord.run(...columns.map((column) => toInput(summed[column])))
    }
    addTail(summed)
    if (row.last_frame !== null) addHeard(summed)
  }
}

const SPENT = columnsOf('spent').map(([name]) => `${name} = excluded.${name}`)

/** Records add native conversations, and a copy that is continued adds unordered tables again. */
const ADDED_AGAIN: Partial<Record<TableName, string>> = {
  native: 'ON CONFLICT DO NOTHING',
  spent: `ON CONFLICT DO UPDATE SET ${SPENT.join(', ')}`,
  token: 'ON CONFLICT DO NOTHING',
  permit: 'ON CONFLICT DO NOTHING',
}

function addOthers(
  db: DatabaseSync,
  table: Exclude<TableName, 'session'>,
  rows: readonly Row[],
  contentOf: (blob: string) => number | undefined,
): void {
  const add = inserter(db, table, ADDED_AGAIN[table])
  let id = table === 'log' ? logTop(db) : 0
  for (const row of rows) {
    const n = isFree(table) ? undefined : numberOf(db, text(row, 'session'))
    if (table === 'log') add({ ...row, n, id: ++id })
    else if (table === 'blob') add({ ...row, n, content: contentOf(text(row, 'id')) })
    else add({ ...row, n })
  }
}
