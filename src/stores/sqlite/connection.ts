import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { wants } from '../calls/call-statements.ts'
import { ADD_CHARGE } from '../daily-usage.ts'
import { encodeJournal } from '../journal-body.ts'
import { integer, text } from '../row.ts'
import { TABLES } from '../tables.ts'
import { applyChange, changeCounters, logTop } from './apply-change.ts'
import { checkNotLost, type Files, LastCommit } from './files.ts'
import { checkAlone } from './lock.ts'
import { type Commit, rowsIn, type StoreChange, type WriterSettings } from './message.ts'
import { checkFinished, checkIntact, checkOurs, migrate } from './schema.ts'
import { inserter, insertInto, same, sessionStatements } from './table-rows.ts'
import { StoredTails } from './tails.ts'

/** `start without a lock`: no lock of an earlier owner was there, so the database has to be free of other processes. */
type Opening = 'start' | 'start without a lock' | 'failure'

/** The webhooks that are called for a call. */
const WANTING = `SELECT w.id FROM webhook w WHERE ${wants('instr', (column) => `:${column}`)}`.replaceAll(
  '@',
  '',
)

type WriteStatements = ReturnType<typeof statementsOf>

function statementsOf(db: DatabaseSync) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
    checkpoint: db.prepare('PRAGMA wal_checkpoint(PASSIVE)'),
    session: sessionStatements(db),
    log: inserter(db, 'log'),
    tailOf: db.prepare('SELECT head, at, journaled, counted FROM tail WHERE session = ?'),
    journal: inserter(db, 'journal'),
    queued: inserter(db, 'queued'),
    dequeued: db.prepare('DELETE FROM queued WHERE session = ? AND turn = ?'),
    waiting: db.prepare('UPDATE session SET queued = queued + ? WHERE n = ?'),
    receipt: inserter(db, 'receipt'),
    blob: inserter(db, 'blob', 'ON CONFLICT DO NOTHING'),
    hasBlob: db.prepare('SELECT 1 FROM blob WHERE id = ?'),
    charge: insertInto(db, 'spent AS s', same(...Object.keys(TABLES.spent.columns)), ADD_CHARGE),
    audit: inserter(db, 'audit'),
    wanting: db.prepare(WANTING),
    delivery: inserter(db, 'delivery', 'ON CONFLICT DO NOTHING'),
  }
}

/** The only connection that writes. Replaced after any failure, because its state is unknown then. */
export class Connection {
  readonly #db: DatabaseSync
  readonly #file: string
  readonly #inode: number
  readonly #statements: WriteStatements
  readonly #entryVersion: number
  /** The highest id of the log so far. */
  #logTop: number
  /** Absent where the operating system decides when to write: a power cut may then lose commits. */
  readonly #lastCommit: LastCommit | undefined

  constructor(files: Files, settings: WriterSettings, after: Opening) {
    checkNotLost(files)
    this.#file = files.database
    this.#entryVersion = settings.entryVersion
    this.#inode = statSync(files.database).ino
    this.#db = new DatabaseSync(files.database)
    try {
      this.#setUp(settings, after)
      this.#statements = statementsOf(this.#db)
      this.#logTop = logTop(this.#db)
      if (settings.durability === 'power')
        this.#lastCommit = new LastCommit(files.lastCommit, this.#file, this.#logTop)
    } catch (thrown) {
      this.#db.close()
      throw thrown
    }
  }

  #setUp({ durability, maxBytes }: WriterSettings, after: Opening): void {
    const db = this.#db
    db.exec('PRAGMA busy_timeout = 5000; PRAGMA trusted_schema = OFF')
    checkOurs(db, this.#file)
    if (after !== 'failure') checkIntact(db, this.#file)
    if (after === 'start without a lock') checkAlone(db, this.#file)
    const mode = text(db.prepare('PRAGMA journal_mode = WAL').get() ?? {}, 'journal_mode')
    if (mode !== 'wal') {
      throw new MainstemError(
        'storage_failed',
        `${this.#file} is on a file system that SQLite's log cannot use`,
      )
    }
    // A disk may cache what fsync wrote; macOS flushes that cache only on request.
    const level = durability === 'power' ? 'FULL' : 'NORMAL'
    const flush = durability === 'power' ? 'ON' : 'OFF'
    db.exec(
      `PRAGMA synchronous = ${level}; PRAGMA fullfsync = ${flush}; PRAGMA checkpoint_fullfsync = ${flush}`,
    )
    db.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -4000')
    // Overwrites deleted content.
    db.exec('PRAGMA secure_delete = ON')
    // Before the limit is set: a full store must open, so that data can be deleted.
    migrate(db)
    checkFinished(db, this.#file)
    if (maxBytes !== undefined) {
      const pageSize = integer(db.prepare('PRAGMA page_size').get() ?? {}, 'page_size')
      db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageSize))}`)
    }
    if (after === 'failure') this.#moveLogIntoDatabase()
  }

  /**
   * After a failed fsync the kernel may consider dirty pages written. A full checkpoint copies the WAL into the
   * database and restarts it, so that nothing depends on a page whose fsync failed.
   */
  #moveLogIntoDatabase(): void {
    const { busy } = this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
    if (busy !== 0) throw new MainstemError('storage_failed', `${this.#file} is in use by another program`)
  }

  /** Applies a write in one transaction. Returns the blobs that no entry refers to any more. */
  write(message: Commit | StoreChange): string[] {
    const before = this.#logTop
    this.#statements.begin.run()
    const blobs = message.kind === 'commit' ? this.#insert(message) : applyChange(this.#db, message)
    this.#checkInPlace()
    this.#statements.commit.run()
    if (this.#logTop !== before) this.#lastCommit?.write(this.#logTop)
    return blobs
  }

  #insert(commit: Commit): string[] {
    const { session, ...statements } = this.#statements
    for (const row of commit.sessions) session.begin(row)
    for (const row of commit.leases) session.lease(row)
    const tails = new StoredTails(statements.tailOf, commit)
    this.#insertLog(commit, tails)
    this.#insertJournal(commit, tails)
    for (const row of rowsIn(commit.frameCounts)) {
      session.frameCounts(row)
      tails.count(integer(row, 'n'), integer(row, 'last_frame'))
    }
    for (const tail of tails.changed) session.end({ ...tail })
    for (const row of commit.records) session.record(row)
    this.#changeQueues(commit)
    for (const row of commit.receipts) statements.receipt(row)
    for (const row of commit.blobs) statements.blob(row)
    for (const row of commit.charges) statements.charge(row)
    for (const row of commit.facts) statements.audit(row)
    for (const row of commit.calls) {
      const { principal, type, session } = { ...row }
      const call = { principal: String(principal), type: String(type), session: String(session) }
      for (const { id } of statements.wanting.all(call)) statements.delivery({ ...row, webhook: id })
    }
    return []
  }

  #insertLog({ log }: Commit, tails: StoredTails): void {
    const { log: insert } = this.#statements
    const version = this.#entryVersion
    for (const row of rowsIn(log)) {
      insert({ ...row, id: ++this.#logTop, version })
      tails.extend(integer(row, 'n'), integer(row, 'last'), integer(row, 'at'))
    }
  }

  #insertJournal({ journal }: Commit, tails: StoredTails): void {
    for (const row of rowsIn(journal)) {
      const [n, last] = [integer(row, 'n'), integer(row, 'last')]
      const { encoding, body } = encodeJournal(text(row, 'text'))
      this.#statements.journal({ n, last, encoding, previous: tails.journal(n, last), body })
    }
  }

  #changeQueues({ queued, dequeued }: Commit): void {
    const statements = this.#statements
    const sessions = new Set([...queued, ...dequeued].map((row) => integer(row, 'n')))
    for (const n of sessions) {
      changeCounters(this.#db, n, () => {
        let change = 0
        for (const row of queued.filter((one) => one.n === n)) {
          statements.queued(row)
          change++
        }
        // After the inserts: one commit can contain the batch that queues a prompt and the one that starts it.
        for (const { turn } of dequeued.filter((row) => row.n === n)) {
          change -= Number(statements.dequeued.run(n, turn).changes)
        }
        statements.waiting.run(change, n)
      })
    }
  }

  /** Throws if the database was moved, or is as large as it may be. */
  checkRoom(): void {
    this.#checkInPlace()
    const [used, free, most] = ['page_count', 'freelist_count', 'max_page_count'].map((name) =>
      integer(this.#db.prepare(`PRAGMA ${name}`).get() ?? {}, name),
    )
    if (used !== undefined && most !== undefined && used - (free ?? 0) >= most)
      throw new MainstemError('storage_failed', `${this.#file} is as large as maxBytes allows`)
  }

  /** Inserts a row of this size and rolls back. After a failure the connection is replaced. */
  probe(bytes: number): void {
    this.#statements.begin.run()
    this.#statements.journal({ n: 0, last: 0, encoding: 0, previous: null, body: new Uint8Array(bytes) })
    this.#checkInPlace()
    this.#statements.rollback.run()
  }

  hasBlob(id: string): boolean {
    return this.#statements.hasBlob.get(id) !== undefined
  }

  checkpoint(): void {
    this.#statements.checkpoint.get()
  }

  /** Frees the pages that SQLite keeps in memory; the system may still have them. */
  shrink(): void {
    this.#db.exec('PRAGMA shrink_memory')
  }

  close(): void {
    this.#lastCommit?.[Symbol.dispose]()
    this.#db.close()
  }

  #checkInPlace(): void {
    // On Unix a deleted file stays writable while it is open; its commits would be lost at close.
    if (statSync(this.#file, { throwIfNoEntry: false })?.ino !== this.#inode) {
      throw new MainstemError('storage_failed', `${this.#file} was moved or removed while it was open`)
    }
  }
}
