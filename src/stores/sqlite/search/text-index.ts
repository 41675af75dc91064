import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { SearchTerm } from '../../../model/text/search-terms.ts'
import { bytes, integer } from '../../row.ts'
import { scopeOf } from '../../search.ts'
import { prepareFile } from '../files.ts'

/** The version of the index. An index of another one is built anew: raise it when the tokens of a text change. */
const VERSION = 2

/**
 * A document is the text of one entry. The index of FTS5 has no copy of the tokens, but removing a document from it
 * takes them, so `doc` has them compressed. With `secure-delete`, removed tokens are overwritten and not only hidden.
 *
 * `position` is the range of rows of the log that are indexed. It changes in the same transaction as the documents.
 */
const SCHEMA = `
  CREATE TABLE position (low INTEGER NOT NULL, high INTEGER NOT NULL) STRICT;
  CREATE TABLE doc (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, tokens BLOB NOT NULL) STRICT;
  CREATE INDEX doc_session ON doc (session, id);
  CREATE VIRTUAL TABLE word USING fts5(tokens, content = '', tokenize = 'ascii');
  INSERT INTO word (word, rank) VALUES ('secure-delete', 1);
  PRAGMA user_version = ${VERSION}`

/** Tokens are ASCII letters and digits, and all other characters, separated by spaces: what the tokenizer splits. */
export interface TextDocument {
  id: number
  /** The number of its session. */
  session: number
  tokens: readonly string[]
}

/** All rows of the log from `low` to `high` are indexed. */
export interface TextPosition {
  low: number
  high: number
}

type IndexStatements = ReturnType<typeof statementsOf>

function statementsOf(db: DatabaseSync) {
  return {
    position: db.prepare('SELECT low, high FROM position'),
    move: db.prepare('UPDATE position SET low = ?, high = ?'),
    doc: db.prepare('INSERT INTO doc VALUES (?, ?, ?)'),
    word: db.prepare('INSERT INTO word (rowid, tokens) VALUES (?, ?)'),
    stale: db.prepare('SELECT id, tokens FROM doc WHERE session = ? AND id < ? ORDER BY id LIMIT ?'),
    removeDoc: db.prepare('DELETE FROM doc WHERE id = ?'),
    removeWord: db.prepare("INSERT INTO word (word, rowid, tokens) VALUES ('delete', ?, ?)"),
    nextSession: db.prepare('SELECT session FROM doc WHERE session > ? ORDER BY session LIMIT 1'),
    find: db.prepare('SELECT rowid AS id FROM word WHERE word MATCH ? AND rowid < ? ORDER BY rowid DESC'),
  }
}

/** The index of a store: a database beside that of the logs, which can be removed and built anew at any time. */
export class TextIndex {
  readonly #db: DatabaseSync
  readonly #statements: IndexStatements

  private constructor(db: DatabaseSync) {
    this.#db = db
    this.#statements = statementsOf(db)
  }

  /**
   * `top` is above or at the id of every row of the log. An index beyond it belongs to another state of the logs, such
   * as one before a backup was restored.
   */
  static open(file: string, top: number): TextIndex {
    try {
      const found = openFile(file)
      if (isCurrent(found, top)) return new TextIndex(found)
      found.close()
    } catch (thrown) {
      if (!isDamagedIndex(thrown)) throw thrown
    }
    removeIndex(file)
    const db = openFile(file)
    db.exec(`BEGIN IMMEDIATE; ${SCHEMA}; INSERT INTO position VALUES (${top + 1}, ${top}); COMMIT`)
    return new TextIndex(db)
  }

  get position(): TextPosition {
    const row = this.#statements.position.get() ?? {}
    return { low: integer(row, 'low'), high: integer(row, 'high') }
  }

  add(documents: readonly TextDocument[], { low, high }: TextPosition): void {
    this.#transact(({ doc, word, move }) => {
      for (const { id, session, tokens } of documents) {
        const text = tokens.join(' ')
        doc.run(id, session, deflateRawSync(text, { level: 1 }))
        word.run(id, text)
      }
      move.run(low, high)
    })
  }

  /** Removes the documents of a session below an id, no more than `limit`. Returns how many were removed. */
  remove(session: number, below: number, limit: number): number {
    return this.#transact(({ stale, removeDoc, removeWord }) => {
      const rows = stale.all(session, below, limit)
      for (const row of rows) {
        removeWord.run(integer(row, 'id'), inflateRawSync(bytes(row, 'tokens')).toString())
        removeDoc.run(integer(row, 'id'))
      }
      return rows.length
    })
  }

  /** The first session after this one that has documents. */
  nextSession(after: number): number | undefined {
    const row = this.#statements.nextSession.get(after)
    return row && integer(row, 'session')
  }

  /** The ids of the documents of a principal that match every term, from the highest below `below` on. */
  *find(principal: string, terms: readonly SearchTerm[], below: number): Generator<number, void, void> {
    const scope = scopeOf(principal)
    const phrase = (term: SearchTerm) => `"${term.map((token) => scope + token).join(' ')}" *`
    const match = terms.map(phrase).join(' AND ')
    for (const row of this.#statements.find.iterate(match, below)) yield integer(row, 'id')
  }

  /** Moves what SQLite's log holds into the database, so that removed text is in neither. */
  flush(): void {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  shrink(): void {
    this.#db.exec('PRAGMA shrink_memory')
  }

  close(): void {
    this.#db.close()
  }

  #transact<T>(work: (statements: IndexStatements) => T): T {
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      const result = work(this.#statements)
      this.#db.exec('COMMIT')
      return result
    } catch (thrown) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw thrown
    }
  }
}

function openFile(file: string): DatabaseSync {
  prepareFile(file)
  const db = new DatabaseSync(file)
  try {
    // A power cut may take the last transactions with it, which are then indexed again.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON')
    db.exec('PRAGMA journal_size_limit = 16777216; PRAGMA cache_size = -4000')
  } catch (thrown) {
    db.close()
    throw thrown
  }
  return db
}

function isCurrent(db: DatabaseSync, top: number): boolean {
  const version = integer(db.prepare('PRAGMA user_version').get() ?? {}, 'user_version')
  if (version !== VERSION) return false
  return integer(db.prepare('SELECT high FROM position').get() ?? {}, 'high') <= top
}

export function removeIndex(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
}

const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

/** Whether the file of the index is at fault. The low byte of SQLite's code is the kind of error. */
export function isDamagedIndex(thrown: unknown): boolean {
  if (!(thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number')) return false
  return [SQLITE_CORRUPT, SQLITE_NOTADB].includes(thrown.errcode & 0xff)
}
