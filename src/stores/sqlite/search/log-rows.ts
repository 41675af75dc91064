import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { storageFailed } from '../../refusals.ts'
import { integer, type Row, text } from '../../row.ts'
import { searchableEntries } from '../../search.ts'
import { logTop } from '../apply-change.ts'
import type { TextDocument } from './text-index.ts'

/** Text of the log that is read at a time. */
const SLICE_CHARS = 1024 * 1024
const SLICE_ROWS = 512

/** The entries that one commit added to a log. */
export interface SearchRow {
  id: number
  /** The number of its session. */
  session: number
  principal: string
  version: number
  /** Entries as JSON, one a line. */
  body: string
}

/** The position of an entry, for readers. */
export interface EntryPlace {
  session: string
  seq: number
}

type RowStatements = ReturnType<typeof statementsOf>

function statementsOf(db: DatabaseSync) {
  const rows = `SELECT l.id, l.session, coalesce(s.principal, '') AS principal, l.version, l.body
    FROM log l LEFT JOIN session s ON s.n = l.session`
  return {
    db,
    after: db.prepare(`${rows} WHERE l.id > ? ORDER BY l.id LIMIT ${SLICE_ROWS}`),
    before: db.prepare(`${rows} WHERE l.id < ? ORDER BY l.id DESC LIMIT ${SLICE_ROWS}`),
    place: db.prepare(`SELECT s.id AS session, l.first FROM log l JOIN session s ON s.n = l.session
      WHERE l.id = ? AND s.principal = ?`),
    timeAfter: db.prepare('SELECT at FROM log WHERE id > ? ORDER BY id LIMIT 1'),
    lowest: db.prepare('SELECT id FROM log WHERE session = ? ORDER BY first LIMIT 1'),
  }
}

/** A read-only connection to the logs. It follows the file when that is replaced. */
export class LogRows {
  readonly #file: string
  #db: DatabaseSync | undefined
  #statements: RowStatements | undefined
  #inode: number | undefined

  constructor(file: string) {
    this.#file = file
  }

  /** At or above the id of every row there is or was; ids are never given twice. */
  top(): number {
    return this.#ask(({ db }) => logTop(db))
  }

  /** The next rows after an id, upwards. */
  after(id: number): SearchRow[] {
    return this.#ask(({ after }) => slice(after.iterate(id)))
  }

  /** The next rows before an id, downwards. */
  before(id: number): SearchRow[] {
    return this.#ask(({ before }) => slice(before.iterate(id)))
  }

  /** The place of an entry of this principal; undefined if it was removed or belongs to another one. */
  place(row: number, index: number, principal: string): EntryPlace | undefined {
    const found = this.#ask((statements) => statements.place.get(row, principal))
    return found && { session: text(found, 'session'), seq: integer(found, 'first') + index }
  }

  /** The time of the first row after an id. */
  timeAfter(id: number): number | undefined {
    const found = this.#ask(({ timeAfter }) => timeAfter.get(id))
    return found && integer(found, 'at')
  }

  /** The first row that a session has. */
  lowest(session: number): number | undefined {
    const found = this.#ask((statements) => statements.lowest.get(session))
    return found && integer(found, 'id')
  }

  close(): void {
    this.#db?.close()
    this.#db = undefined
    this.#statements = undefined
  }

  /** Wraps a failure of this file, to distinguish it from a failure of the index. */
  #ask<T>(question: (statements: RowStatements) => T): T {
    try {
      const inode = statSync(this.#file).ino
      if (inode !== this.#inode) this.close()
      this.#inode = inode
      this.#db ??= new DatabaseSync(this.#file, { readOnly: true })
      this.#statements ??= statementsOf(this.#db)
      return question(this.#statements)
    } catch (thrown) {
      throw storageFailed('cannot read the store', thrown)
    }
  }
}

/** Not read to the end where it is long, so that a slice is small. */
function slice(rows: Iterable<Row>): SearchRow[] {
  const found: SearchRow[] = []
  let chars = 0
  for (const row of rows) {
    const body = text(row, 'body')
    found.push({
      id: integer(row, 'id'),
      session: integer(row, 'session'),
      principal: text(row, 'principal'),
      version: integer(row, 'version'),
      body,
    })
    chars += body.length
    if (chars >= SLICE_CHARS) break
  }
  return found
}

/** More than the entries of any row. The id of a document is that of its row times this, plus the place in the row. */
export const ROW_PLACES = 1024

/** The text of each entry in a row that has any. */
export function documentsIn({ id, session, principal, version, body }: SearchRow): TextDocument[] {
  return searchableEntries(body, version, principal).map(({ place, tokens }) => ({
    id: id * ROW_PLACES + place,
    session,
    tokens,
  }))
}
