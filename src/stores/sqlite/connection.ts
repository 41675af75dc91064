import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { MainstemError } from '../../model/mainstem-error.ts'
import { checksum } from '../checksum.ts'
import { chargeOf } from '../daily-usage.ts'
import { encodeJournal } from '../journal-body.ts'
import { integer, text } from '../row.ts'
import { CHARGE } from './charge.ts'
import { changeCounters, newCounterSum } from './counters.ts'
import { checkNotLost, type Files } from './files.ts'
import { leaseSum } from './lease-row.ts'
import { checkAlone } from './lock.ts'
import {
  type Commit,
  FRAME_COUNT_NUMBERS,
  JOURNAL_NUMBERS,
  LOG_NUMBERS,
  type Removal,
  type WriterSettings,
} from './message.ts'
import { recordSum } from './record-row.ts'
import { logTop, removal } from './removal.ts'
import { checkFinished, checkIntact, checkOurs, migrate } from './schema.ts'
import { eachText } from './texts.ts'

/** `start without a lock`: no lock of an earlier owner was there, so the database has to be free of other processes. */
type Opening = 'start' | 'start without a lock' | 'failure'

type Statements = ReturnType<typeof statementsOf>

function statementsOf(db: DatabaseSync) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
    checkpoint: db.prepare('PRAGMA wal_checkpoint(PASSIVE)'),
    session: db.prepare(
      'INSERT INTO session (n, id, edge_sum, fence, owner, lease_sum) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    lease: db.prepare('UPDATE session SET fence = ?, owner = ?, lease_sum = ? WHERE n = ?'),
    log: db.prepare(
      'INSERT INTO log (id, session, first, last, at, body, version, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    tail: db.prepare('INSERT OR REPLACE INTO tail VALUES (?, ?, ?, ?)'),
    journal: db.prepare('INSERT INTO journal (session, last, encoding, body, sum) VALUES (?, ?, ?, ?, ?)'),
    record: db.prepare(
      'UPDATE session SET principal = ?, status = ?, asking = ?, record = ?, sum = ? WHERE n = ?',
    ),
    queued: db.prepare(
      'INSERT INTO queued (session, turn, body, sum, whole, whole_sum) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    dequeued: db.prepare('DELETE FROM queued WHERE session = ? AND turn = ?'),
    waiting: db.prepare('UPDATE session SET queued = queued + ? WHERE n = ?'),
    frameCounts: db.prepare('INSERT OR REPLACE INTO heard VALUES (?, ?, ?, ?, ?, ?, ?, ?)'),
    receipt: db.prepare('INSERT INTO receipt (id, session, at, body, sum) VALUES (?, ?, ?, ?, ?)'),
    blob: db.prepare('INSERT INTO blob (id, session, sum) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    hasBlob: db.prepare('SELECT 1 FROM blob WHERE id = ?'),
    charge: db.prepare(CHARGE),
  }
}

/** The only connection that writes. Replaced after any failure, because its state is unknown then. */
export class Connection {
  readonly #db: DatabaseSync
  readonly #file: string
  readonly #inode: number
  readonly #statements: Statements
  readonly #entryVersion: number
  /** The highest id of the log so far. */
  #logTop: number

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
    db.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8000')
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

  insert(commit: Commit): void {
    const { sessions, leases, journal, frameCounts, records, receipts, blobs, charges } = commit
    const statements = this.#statements
    this.#transact(() => {
      for (const { n, id, fence, owner } of sessions) {
        statements.session.run(n, id, newCounterSum(n), fence, owner ?? null, leaseSum({ n, fence, owner }))
      }
      for (const lease of leases) {
        statements.lease.run(lease.fence, lease.owner ?? null, leaseSum(lease), lease.n)
      }
      this.#insertLog(commit)
      for (const [joined, place] of eachText(journal, JOURNAL_NUMBERS)) {
        const { encoding, body } = encodeJournal(joined)
        statements.journal.run(...place, encoding, body, checksum([...place, encoding], body))
      }
      for (let at = 0; at < frameCounts.length; at += FRAME_COUNT_NUMBERS) {
        const numbers = frameCounts.slice(at, at + FRAME_COUNT_NUMBERS)
        statements.frameCounts.run(...numbers, checksum(numbers))
      }
      for (const { n, id, principal, status, asking, text } of records) {
        const sum = recordSum(n, Number(asking), [id, principal, status, text])
        statements.record.run(principal, status, Number(asking), text, sum, n)
      }
      this.#changeQueues(commit)
      for (const { id, session, at, text } of receipts) {
        statements.receipt.run(id, session, at, text, checksum([at], id, session, text))
      }
      for (const { id, n, content } of blobs) {
        statements.blob.run(id, n, content === undefined ? null : checksum([n, content], id))
      }
      for (const charge of charges) statements.charge.run(...chargeOf(charge))
    })
  }

  #insertLog({ log }: Commit): void {
    const { log: insert, tail } = this.#statements
    const version = this.#entryVersion
    const ends = new Map<number, number[]>()
    for (const [body, [n = 0, first = 0, last = 0, at = 0]] of eachText(log, LOG_NUMBERS)) {
      insert.run(++this.#logTop, n, first, last, at, body, version, checksum([n, first, last, version], body))
      ends.set(n, [n, last, at])
    }
    for (const end of ends.values()) tail.run(...end, checksum(end))
  }

  #changeQueues({ queued, dequeued }: Commit): void {
    const statements = this.#statements
    const sessions = new Set([...queued, ...dequeued].map(({ n }) => n))
    for (const n of sessions) {
      changeCounters(this.#db, n, () => {
        let change = 0
        for (const { turn, text, whole } of queued.filter((row) => row.n === n)) {
          const wholeSum = whole === undefined ? null : checksum([n, turn], whole)
          statements.queued.run(n, turn, text, checksum([n, turn], text), whole ?? null, wholeSum)
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

  /** The blobs that no entry refers to any more. */
  remove(message: Removal): string[] {
    let blobs: string[] = []
    this.#transact(() => {
      blobs = removal(this.#db, message)
    })
    return blobs
  }

  /** Inserts a row of this size and rolls back. After a failure the connection is replaced. */
  probe(bytes: number): void {
    this.#statements.begin.run()
    this.#statements.journal.run(0, 0, 0, new Uint8Array(bytes), null)
    this.#checkInPlace()
    this.#statements.rollback.run()
  }

  hasBlob(id: string): boolean {
    return this.#statements.hasBlob.get(id) !== undefined
  }

  checkpoint(): void {
    this.#statements.checkpoint.get()
  }

  close(): void {
    this.#db.close()
  }

  #transact(work: () => void): void {
    this.#statements.begin.run()
    work()
    this.#checkInPlace()
    this.#statements.commit.run()
  }

  #checkInPlace(): void {
    // On Unix a deleted file stays writable while it is open; its commits would be lost at close.
    if (statSync(this.#file, { throwIfNoEntry: false })?.ino !== this.#inode) {
      throw new MainstemError('storage_failed', `${this.#file} was moved or removed while it was open`)
    }
  }
}
