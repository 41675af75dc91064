import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type Entry, MainstemError, SCHEMA_VERSION, SessionRecord } from '../../model/index.ts'
import type { AcceptedPrompt } from '../../model/queue-preview.ts'
import { checksum, matches } from '../checksum.ts'
import { cursorGone } from '../cursor-gone.ts'
import { toDailyUsage } from '../daily-usage.ts'
import { damaged } from '../damaged.ts'
import { decodeJournal, splitFrames } from '../journal-body.ts'
import { fromText, textsIn } from '../log-rows.ts'
import { RECORD_BYTES } from '../read-bytes.ts'
import { bytes, integer, type Row, text } from '../row.ts'
import { storageFailed } from '../storage-failed.ts'
import type { DailyUsage, JournalFrame, Receipt, SessionQuery } from '../store.ts'
import type { Upcasts } from '../upcast.ts'
import { upcastEntry } from '../upcast-entry.ts'
import { blobSum } from './blobs.ts'
import { areCountersIntact } from './counters.ts'
import { leaseIn } from './lease-row.ts'
import type { StoredLog } from './live-log.ts'
import { receiptSum } from './receipts.ts'
import { endOf, QUEUED, RECORD, recordBytes, TAIL, TAIL_TABLES, toPrompt, toRecord } from './record-row.ts'
import { JOURNAL_IDS } from './schema.ts'
import { bounded, SEGMENT, type Segment, SIZE, segmentsIn } from './segments.ts'

/** Larger than the number of any session. */
const ALL = Number.MAX_SAFE_INTEGER

const JOURNAL = `SELECT session, last, encoding, body, sum FROM journal
  WHERE id IN (${JOURNAL_IDS} ORDER BY j.id LIMIT :limit) ORDER BY id`

/** Texts per read. */
const TEXTS = 512

const STATUSES = SessionRecord.shape.status.options

type Statements = ReturnType<typeof statementsOf>

function statementsOf(db: DatabaseSync) {
  return {
    storedLog: db.prepare(
      `SELECT s.n, s.id, s.fence, s.owner, s.lease_sum AS leaseSum, ${TAIL} FROM session s ${TAIL_TABLES} WHERE s.id = ?`,
    ),
    number: db.prepare('SELECT n FROM session WHERE id = ?'),
    lastSession: db.prepare('SELECT coalesce(max(n), 0) AS n FROM session'),
    segment: db.prepare(SEGMENT),
    size: db.prepare(SIZE),
    journal: db.prepare(JOURNAL),
    receipt: db.prepare('SELECT id, session, at, body, sum FROM receipt WHERE id = ?'),
    lastReceipt: db.prepare('SELECT coalesce(max(at), 0) AS at FROM receipt'),
    blob: db.prepare('SELECT session, sum FROM blob WHERE id = ?'),
    record: db.prepare(`${RECORD} WHERE s.id = ? AND s.record IS NOT NULL`),
    queued: db.prepare(QUEUED),
    counters:
      db.prepare(`SELECT n, id, earliest, earliest_frame AS earliestFrame, queued, edge_sum AS counterSum
      FROM session WHERE id = ?`),
    tally: db.prepare('SELECT status, sessions FROM tally WHERE sessions > 0'),
    owners: db.prepare('SELECT principal FROM native WHERE id = ? ORDER BY principal'),
    dailyUsage: db.prepare('SELECT * FROM spent WHERE principal = :principal OR :principal IS NULL'),
  }
}

/** A read-only connection on the main thread. Sees commits at once. */
export class Reader {
  readonly #file: string
  readonly #upcasts: Upcasts
  #db: DatabaseSync | undefined
  #statements: Statements | undefined
  #inode: number | undefined
  #closed = false

  constructor(file: string, upcasts: Upcasts) {
    this.#file = file
    this.#upcasts = upcasts
  }

  storedLog(session: string): StoredLog | undefined {
    return this.#ask(({ storedLog }) => {
      const row = storedLog.get(session)
      return row && { ...leaseIn(row), head: endOf(row).head }
    })
  }

  /** The number of a session, also of a damaged one. */
  number(session: string): number | undefined {
    return this.#ask(({ number }) => {
      const row = number.get(session)
      return row && integer(row, 'n')
    })
  }

  lastSession(): number {
    return this.#ask(({ lastSession }) => integer(lastSession.get() ?? {}, 'n'))
  }

  read(session: string, after: number, limit: number, maxBytes: number): Entry[] {
    return this.#ask(({ segment, size, counters }) => {
      const { range } = bounded(size, { id: session, from: after + 1, to: after + limit }, maxBytes)
      const { segments, head } = segmentsIn(segment, range)
      const found = this.#entriesIn(segments, after, limit, maxBytes)
      // Entries can only have been trimmed if none were found.
      if (found.length === 0) checkKept(counters.get(session), 'entries', after)
      if (found.length === 0 && head > after)
        throw damaged('the log', { session, first: after + 1, last: head })
      return found
    })
  }

  readTexts(session: string, after: number, maxBytes: number): string[] {
    const { segments } = this.#ask(({ segment, size }) => {
      const { range } = bounded(size, { id: session, from: after + 1, to: after + TEXTS }, maxBytes)
      return segmentsIn(segment, range)
    })
    const [found] = segments
    if (found?.version !== SCHEMA_VERSION)
      return this.read(session, after, TEXTS, maxBytes).map((entry) => JSON.stringify(entry))
    const skip = Math.max(0, after + 1 - found.first)
    return textsIn(found.text, { skip, limit: TEXTS, maxBytes })
  }

  readSize(session: string, after: number, limit: number, maxBytes: number): number {
    return this.#ask(
      ({ size }) => bounded(size, { id: session, from: after + 1, to: after + limit }, maxBytes).bytes,
    )
  }

  readJournal(session: string, after: number, limit: number, maxBytes: number): JournalFrame[] {
    return this.#ask(({ number, journal, counters }) => {
      checkKept(counters.get(session), 'frames', after)
      const found: JournalFrame[] = []
      let chars = 0
      const n = number.get(session)?.n ?? null
      for (const row of journal.iterate({ n, after, limit })) {
        for (const one of framesIn(session, row)) {
          if (one.frame <= after) continue
          chars += one.text.length
          if (found.length === limit || (chars > maxBytes && found.length > 0)) return found
          found.push(one)
        }
        if (chars >= maxBytes) break
      }
      return found
    })
  }

  receipt(id: string): Receipt | undefined {
    return this.#ask(({ receipt }) => {
      const row = receipt.get(id)
      return row && toReceipt(row)
    })
  }

  /** The time of the newest receipt, in open time. */
  lastReceiptAt(): number {
    return this.#ask(({ lastReceipt }) => integer(lastReceipt.get() ?? {}, 'at'))
  }

  record(session: string): SessionRecord | undefined {
    return this.#ask(({ record }) => {
      const row = record.get(session)
      return row && toRecord(row)
    })
  }

  /** Skips sessions of the owners in `notOf`. */
  records(
    { principal, status, asking, before, limit, maxBytes = RECORD_BYTES }: SessionQuery,
    notOf: readonly string[],
  ): SessionRecord[] {
    const where = ['s.record IS NOT NULL']
    const values: (string | number)[] = []
    const add = (condition: string, value: string | number | undefined) => {
      if (value === undefined) return
      where.push(condition)
      values.push(value)
    }
    add('s.principal = ?', principal)
    add('s.status = ?', status)
    if (asking !== undefined) where.push(`s.asking = ${asking ? 1 : 0}`)
    for (const owner of notOf) add('s.owner IS NOT ?', owner)
    return this.#ask(({ number }, db) => {
      const from = before === undefined ? undefined : number.get(before)?.n
      const query = db.prepare(`${RECORD} WHERE ${where.join(' AND ')} AND s.n < ? ORDER BY s.n DESC LIMIT ?`)
      const page = (below: number, count: number) => query.iterate(...values, below, count)
      return intactRecords(page, Number(from ?? ALL), { limit, maxBytes })
    })
  }

  queuedPrompt(session: string, turn: number): AcceptedPrompt | undefined {
    return this.#ask(({ queued }) => {
      const row = queued.get(session, turn)
      return row && toPrompt(row, session)
    })
  }

  /** Compares the checksum of a blob's bytes with its row. A blob that no entry refers to has none. */
  isBlob(id: string, content: number): boolean {
    return this.#ask(({ blob }) => {
      const row = blob.get(id)
      return !row || matches(row.sum, () => blobSum(id, integer(row, 'session'), content))
    })
  }

  counts(): Map<SessionRecord['status'], number> {
    return this.#ask(({ tally }) => {
      const counted = new Map(tally.all().map((row) => [text(row, 'status'), integer(row, 'sessions')]))
      return new Map(
        STATUSES.flatMap((status) => {
          const count = counted.get(status)
          return count === undefined ? [] : [[status, count] as const]
        }),
      )
    })
  }

  nativeOwners(native: string): string[] {
    return this.#ask(({ owners }) => owners.all(native).map((row) => text(row, 'principal')))
  }

  dailyUsage(principal?: string): DailyUsage[] {
    return this.#ask(({ dailyUsage }) => dailyUsage.all({ principal: principal ?? null }).map(toDailyUsage))
  }

  /**
   * Call after a failure of the writer. Reopens if the file was replaced. Otherwise stays open, because SQLite knows
   * which commits failed only while a connection has the database open.
   */
  recheck(): void {
    if (statSync(this.#file, { throwIfNoEntry: false })?.ino !== this.#inode) this.#reset()
  }

  close(): void {
    this.#closed = true
    this.#reset()
  }

  /** The next query reopens the file. */
  #reset(): void {
    const db = this.#db
    this.#db = undefined
    this.#statements = undefined
    db?.close()
  }

  #ask<T>(question: (statements: Statements, db: DatabaseSync) => T): T {
    try {
      if (this.#closed) throw new TypeError('it is closed')
      this.#db ??= this.#open()
      this.#statements ??= statementsOf(this.#db)
      return question(this.#statements, this.#db)
    } catch (thrown) {
      // A refusal is not a failure of the file.
      if (!(thrown instanceof MainstemError)) this.#reset()
      throw storageFailed('cannot read the store', thrown)
    }
  }

  #open(): DatabaseSync {
    this.#inode = statSync(this.#file).ino
    const db = new DatabaseSync(this.#file, { readOnly: true })
    db.exec('PRAGMA busy_timeout = 1000')
    return db
  }

  #entriesIn(segments: readonly Segment[], after: number, limit: number, maxBytes: number): Entry[] {
    let found: Entry[] = []
    for (const { first, last, version, text } of segments) {
      const skip = Math.max(0, after + 1 - first)
      const cut = { skip, limit: limit - found.length, maxBytes }
      const today = this.#today(fromText(text, last - first + 1, cut), version)
      found = found.length === 0 ? today : found.concat(today)
    }
    return found
  }

  #today(entries: Entry[], version: number): Entry[] {
    if (version === SCHEMA_VERSION) return entries
    return entries.map((entry) => upcastEntry(entry, version, this.#upcasts))
  }
}

/** Skips damaged records, so that they do not hide the others. Loading one by id reports the damage. */
function intactRecords(
  page: (below: number, count: number) => Iterable<Row>,
  from: number,
  { limit, maxBytes }: { limit: number; maxBytes: number },
): SessionRecord[] {
  const found: SessionRecord[] = []
  let [below, size] = [from, 0]
  for (;;) {
    const wanted = limit - found.length
    let rows = 0
    for (const row of wanted > 0 ? page(below, wanted) : []) {
      rows++
      below = integer(row, 'n')
      const record = intactRecord(row)
      if (!record) continue
      size += recordBytes(row)
      if (size > maxBytes && found.length > 0) return found
      found.push(record)
    }
    if (rows < wanted || wanted <= 0) return found
  }
}

function intactRecord(row: Row): SessionRecord | undefined {
  try {
    return toRecord(row)
  } catch {
    // `record` reports the reason.
    return undefined
  }
}

function framesIn(session: string, row: Row): JournalFrame[] {
  const [encoding, body] = [integer(row, 'encoding'), bytes(row, 'body')]
  const sum = () => checksum([integer(row, 'session'), integer(row, 'last'), encoding], body)
  if (!matches(row.sum, sum)) throw damaged('the raw frames', { session })
  return splitFrames(decodeJournal({ encoding, body }))
}

function toReceipt(row: Row): Receipt {
  if (!matches(row.sum, () => receiptSum(row))) {
    throw damaged('an idempotency key', { session: text(row, 'session') })
  }
  return JSON.parse(text(row, 'body'))
}

function checkKept(counters: Row | undefined, what: 'entries' | 'frames', after: number): void {
  if (!counters) return
  if (!areCountersIntact(counters))
    throw damaged('the beginning of the log', { session: text(counters, 'id') })
  const earliest = integer(counters, what === 'entries' ? 'earliest' : 'earliestFrame')
  if (after + 1 < earliest) throw cursorGone(what, earliest)
}
