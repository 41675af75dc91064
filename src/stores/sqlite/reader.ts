import { statSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type Coverage, type Entry, MainstemError, SCHEMA_VERSION, SessionRecord } from '../../model/index.ts'
import { cursorGone } from '../cursor-gone.ts'
import type { Heard, JournalFrame, Receipt, SessionQuery, Spent, StoredState } from '../store.ts'
import { decodeJournal, splitFrames } from './journal-body.ts'
import type { Place } from './live-log.ts'
import { bytes, integer, type Row, text } from './row.ts'
import { BETWEEN, fromText, textsIn } from './rows.ts'
import { JOURNAL_IDS } from './schema.ts'
import { toSpent } from './spent.ts'
import { storageFailed } from './storage-failed.ts'
import { type Upcasts, upcast } from './upcast.ts'

const SESSION = '(SELECT n FROM session WHERE id = :id)'
/** In the order in which they were accepted. Read with the record, so that both are of the same commit. */
const QUEUE = `(SELECT group_concat(body, '${BETWEEN}') FROM
  (SELECT body FROM queued WHERE session = s.n ORDER BY id)) AS queue`

const RECORD = `SELECT s.record, ${QUEUE}, s.earliest, s.earliest_frame AS earliestFrame,
  coalesce(l.last, 0) AS head, coalesce(l.at, 0) AS updatedAt,
  h.last AS lastFrame, h.frames, h.mapped, h.unmapped, h.malformed, h.oversized
  FROM session s LEFT JOIN heard h ON h.session = s.n LEFT JOIN log l
  ON l.session = s.n AND l.first = (SELECT max(first) FROM log WHERE session = s.n)`

const ROWS = `FROM log WHERE session = ${SESSION} AND first <= :to
  AND first >= (SELECT max(first) FROM log WHERE session = ${SESSION} AND first <= :from)`

/** Many small rows as one text: a row handed over costs more than what is in it. */
const SEGMENT = `SELECT min(first) AS first, max(last) AS last, min(version) AS oldest, max(version) AS newest,
  group_concat(body, '${BETWEEN}') AS body
  FROM (SELECT first, last, version, body ${ROWS} AND version BETWEEN :oldest AND :newest ORDER BY first)`

/** Told by the rows' heads, so no text is read for it. */
const SIZE = `SELECT coalesce(sum(octet_length(body)), 0) AS bytes ${ROWS}`

const JOURNAL = `SELECT encoding, body FROM journal
  WHERE id IN (${JOURNAL_IDS} ORDER BY j.id LIMIT :limit) ORDER BY id`

/** So many texts are read at a time. */
const TEXTS = 512

const ANY_VERSION = 1_000_000

const STATUSES = SessionRecord.shape.status.options

interface Range {
  id: string
  from: number
  to: number
}

type Statements = ReturnType<typeof statementsOf>

function statementsOf(db: DatabaseSync) {
  return {
    place:
      db.prepare(`SELECT n, coalesce((SELECT last FROM log WHERE session = n ORDER BY first DESC LIMIT 1), 0)
      AS head FROM session WHERE id = ?`),
    lastSession: db.prepare('SELECT coalesce(max(n), 0) AS n FROM session'),
    segment: db.prepare(SEGMENT),
    size: db.prepare(SIZE),
    journal: db.prepare(JOURNAL),
    receipt: db.prepare('SELECT body FROM receipt WHERE id = ?'),
    lastReceipt: db.prepare('SELECT coalesce(max(at), 0) AS at FROM receipt'),
    record: db.prepare(`${RECORD} WHERE s.id = ? AND s.record IS NOT NULL`),
    edge: db.prepare('SELECT earliest, earliest_frame AS earliestFrame FROM session WHERE id = ?'),
    tally: db.prepare('SELECT status, sessions FROM tally WHERE sessions > 0'),
    owners: db.prepare('SELECT principal FROM native WHERE id = ? ORDER BY principal'),
    spent: db.prepare('SELECT * FROM spent WHERE principal = ? ORDER BY agent, day'),
  }
}

/** A connection on the main thread that only reads: what is committed is seen at once, and without waiting. */
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

  place(session: string): Place | undefined {
    return this.#ask(({ place }) => {
      const row = place.get(session)
      return row && { n: integer(row, 'n'), head: integer(row, 'head') }
    })
  }

  lastSession(): number {
    return this.#ask(({ lastSession }) => integer(lastSession.get() ?? {}, 'n'))
  }

  read(session: string, after: number, limit: number, maxBytes: number): Entry[] {
    return this.#ask(({ segment, size, edge }) => {
      const { range } = bounded(size, { id: session, from: after + 1, to: after + limit }, maxBytes)
      const found = this.#entriesIn(segments(segment, range), after, limit, maxBytes)
      // Only where there is nothing can something have been dropped.
      if (found.length === 0) checkKept(edge.get(session), 'entries', after)
      return found
    })
  }

  readTexts(session: string, after: number, maxBytes: number): string[] {
    const [row] = this.#ask(({ segment, size }) => {
      const { range } = bounded(size, { id: session, from: after + 1, to: after + TEXTS }, maxBytes)
      return segments(segment, range)
    })
    const isToday = row && integer(row, 'newest') === SCHEMA_VERSION
    if (!isToday) return this.read(session, after, TEXTS, maxBytes).map((entry) => JSON.stringify(entry))
    const skip = Math.max(0, after + 1 - integer(row, 'first'))
    return textsIn(text(row, 'body'), { skip, limit: TEXTS, maxBytes })
  }

  weigh(session: string, after: number, limit: number, maxBytes: number): number {
    return this.#ask(
      ({ size }) => bounded(size, { id: session, from: after + 1, to: after + limit }, maxBytes).bytes,
    )
  }

  readJournal(session: string, after: number, limit: number, maxBytes: number): JournalFrame[] {
    return this.#ask(({ place, journal, edge }) => {
      checkKept(edge.get(session), 'frames', after)
      const found: JournalFrame[] = []
      let chars = 0
      const n = place.get(session)?.n ?? null
      for (const row of journal.iterate({ n, after, limit })) {
        const body = { encoding: integer(row, 'encoding'), body: bytes(row, 'body') }
        for (const one of splitFrames(decodeJournal(body))) {
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
      return row && JSON.parse(text(row, 'body'))
    })
  }

  /** When the newest receipt was written, as the store counts time. */
  lastReceiptAt(): number {
    return this.#ask(({ lastReceipt }) => integer(lastReceipt.get() ?? {}, 'at'))
  }

  record(session: string): SessionRecord | undefined {
    return this.#ask(({ record }) => {
      const row = record.get(session)
      return row && toRecord(row)
    })
  }

  records({ principal, status, asking, before, limit }: SessionQuery): SessionRecord[] {
    const where = ['s.record IS NOT NULL']
    const values: (string | number)[] = []
    const add = (condition: string, value: string | number | undefined) => {
      if (value === undefined) return
      where.push(condition)
      values.push(value)
    }
    add('s.principal = ?', principal)
    add('s.status = ?', status)
    add('s.n < ?', before === undefined ? undefined : this.place(before)?.n)
    if (asking !== undefined) where.push(`s.asking = ${asking ? 1 : 0}`)
    return this.#ask((_, db) => {
      const query = db.prepare(`${RECORD} WHERE ${where.join(' AND ')} ORDER BY s.n DESC LIMIT ?`)
      return query.all(...values, limit).map(toRecord)
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

  spent(principal: string): Spent[] {
    return this.#ask(({ spent }) => spent.all(principal).map(toSpent))
  }

  /**
   * After a failure of the writer: a file that was put in the place of ours is another database. Otherwise this
   * stays open, because as long as somebody has the database open, SQLite remembers which commits failed.
   */
  recheck(): void {
    if (statSync(this.#file, { throwIfNoEntry: false })?.ino !== this.#inode) this.#reset()
  }

  close(): void {
    this.#closed = true
    this.#reset()
  }

  /** The next question opens the file anew. */
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
      // A refusal of ours is no failure of the file.
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

  #entriesIn(rows: readonly Row[], after: number, limit: number, maxBytes: number): Entry[] {
    let found: Entry[] = []
    for (const row of rows) {
      const first = integer(row, 'first')
      const count = integer(row, 'last') - first + 1
      const skip = Math.max(0, after + 1 - first)
      const entries = fromText(text(row, 'body'), count, { skip, limit: limit - found.length, maxBytes })
      const today = this.#today(entries, integer(row, 'newest'))
      found = found.length === 0 ? today : found.concat(today)
    }
    return found
  }

  #today(entries: Entry[], version: number): Entry[] {
    if (version === SCHEMA_VERSION) return entries
    return entries.map((entry) => upcast(entry, version, this.#upcasts))
  }
}

/** As much of the range as may be read at once: half of it, and half again, but always the row with the first. */
function bounded(size: StatementSync, range: Range, maxBytes: number): { range: Range; bytes: number } {
  const { from } = range
  let { to } = range
  for (;;) {
    const bytes = integer(size.get({ ...range, to }) ?? {}, 'bytes')
    if (bytes <= maxBytes || to <= from) return { range: { ...range, to }, bytes }
    to = from + Math.floor((to - from) / 2)
  }
}

/** One for each schema version, oldest first: a log never goes back to an older one. */
function segments(segment: StatementSync, range: Range, oldest = 0, newest = ANY_VERSION): Row[] {
  const row = segment.get({ ...range, oldest, newest })
  if (!row || row.first === null) return []
  const [low, high] = [integer(row, 'oldest'), integer(row, 'newest')]
  if (low === high) return [row]
  const versions = Array.from({ length: high - low + 1 }, (_, index) => low + index)
  return versions.flatMap((version) => segments(segment, range, version, version))
}

function toRecord(row: Row): SessionRecord {
  const state: StoredState = JSON.parse(text(row, 'record'))
  const [earliest, earliestFrame] = [integer(row, 'earliest'), integer(row, 'earliestFrame')]
  return {
    ...state,
    queue: row.queue === null ? [] : JSON.parse(`[${text(row, 'queue')}]`),
    head: integer(row, 'head'),
    updatedAt: integer(row, 'updatedAt'),
    ...(row.lastFrame !== null && heardIn(row)),
    ...(earliest > 1 && { earliest }),
    ...(earliestFrame > 1 && { earliestFrame }),
  }
}

function heardIn(row: Row): Heard {
  const count = (column: keyof Coverage) => integer(row, column)
  return {
    frames: integer(row, 'lastFrame'),
    coverage: {
      frames: count('frames'),
      mapped: count('mapped'),
      unmapped: count('unmapped'),
      malformed: count('malformed'),
      oversized: count('oversized'),
    },
  }
}

function checkKept(edge: Row | undefined, what: 'entries' | 'frames', after: number): void {
  if (!edge) return
  const earliest = integer(edge, what === 'entries' ? 'earliest' : 'earliestFrame')
  if (after + 1 < earliest) throw cursorGone(what, earliest)
}
