import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MainstemError } from '../../model/index.ts'
import { type InspectSource, inspect, type StoreReport } from '../inspect.ts'
import { type Row, text } from '../row.ts'
import type { TableName } from '../tables.ts'
import { contentOf } from './blobs.ts'
import { type Files, filesIn } from './files.ts'
import { checkCurrent, checkFinished } from './schema.ts'
import { SUMS, selectOf } from './table-rows.ts'

/** Compares everything in a store with its checksums. Reads only, also while another process has the store open. */
export async function inspectStore(directory: string): Promise<StoreReport> {
  const files = filesIn(directory)
  if (!existsSync(files.database)) throw new MainstemError('not_found', `there is no store in ${directory}`)
  const db = new DatabaseSync(files.database, { readOnly: true })
  try {
    db.exec('PRAGMA busy_timeout = 5000')
    checkCurrent(db, files.database)
    checkFinished(db, files.database)
    // All statements see the database as it is now.
    db.exec('BEGIN')
    return await inspect(new SqliteInspection(db, files))
  } finally {
    db.close()
  }
}

class SqliteInspection implements InspectSource {
  readonly file: string
  readonly sums = SUMS
  readonly #db: DatabaseSync
  readonly #files: Files

  constructor(db: DatabaseSync, files: Files) {
    this.#db = db
    this.#files = files
    this.file = files.database
  }

  integrity(): string[] {
    const rows = this.#db.prepare('PRAGMA integrity_check(20)').all()
    return rows.map((row) => text(row, 'integrity_check')).filter((found) => found !== 'ok')
  }

  async *scan(table: TableName): AsyncGenerator<Row> {
    if (table === 'blob') yield* this.#blobs()
    // Commits are in the order of their ids, which is faster to read than the order of sessions.
    const order = table === 'log' || table === 'journal' ? 'ORDER BY t.id' : ''
    if (table !== 'blob') yield* this.#db.prepare(`${selectOf(table)} ${order}`).iterate()
  }

  async *#blobs(): AsyncGenerator<Row> {
    for (const row of this.#db.prepare(selectOf('blob')).all()) {
      const id = text(row, 'id')
      const file = join(this.#files.blobs, id)
      const content = await contentSum(file)
      if (content !== undefined || this.#isKept(id)) yield { ...row, content, file }
    }
  }

  /** Whether a blob is still there for a new connection. */
  #isKept(id: string): boolean {
    const db = new DatabaseSync(this.#files.database, { readOnly: true })
    try {
      return db.prepare('SELECT 1 FROM blob WHERE id = ?').get(id) !== undefined
    } finally {
      db.close()
    }
  }
}

async function contentSum(path: string): Promise<number | undefined> {
  try {
    await using file = await open(path, 'r')
    return (await contentOf(file)).sum
  } catch {
    // Reported as a blob that cannot be read.
    return undefined
  }
}
