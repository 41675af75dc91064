import type { DatabaseSync } from 'node:sqlite'
import { checksum } from '../../checksum.ts'
import type { CopyKeys, CopyRows, Part, PartReaders, PartWriter, PartWriters } from '../../copy/copyable.ts'
import { COLUMNS } from '../../daily-usage.ts'
import { integer, type Row, text } from '../../row.ts'
import { blobSum } from '../blobs.ts'
import { changeCounters, counterSum } from '../counters.ts'
import { leaseSum } from '../lease-row.ts'
import { recordSum } from '../record-row.ts'
import { logTop } from '../removal.ts'

type Rows<P extends Part> = readonly CopyRows[P][]

const OWNER = 'JOIN session s ON s.n = t.session'

/** Adds rows with the checksums of this store. `contentOf` returns the checksum of a blob that was written before. */
export function writeParts(
  db: DatabaseSync,
  readers: PartReaders,
  contentOf: (blob: string) => number | undefined,
): PartWriters {
  const writer = <P extends Part>(
    part: P,
    add: (rows: Rows<P>) => void,
    last: () => CopyKeys[P] | undefined = () => undefined,
  ): PartWriter<CopyRows[P], CopyKeys[P]> => ({
    ...readers[part],
    add: async (rows) => transact(db, () => add(rows)),
    last: async () => last(),
  })
  const keys = lastKeys(db)
  return {
    sessions: writer('sessions', (rows) => addSessions(db, rows), keys.sessions),
    log: writer('log', (rows) => addCommits(db, rows), keys.log),
    journal: writer('journal', (rows) => addFrames(db, rows), keys.journal),
    queued: writer('queued', (rows) => addPrompts(db, rows), keys.queued),
    blobs: writer('blobs', (rows) => addBlobs(db, rows, contentOf), keys.blobs),
    receipts: writer('receipts', (rows) => addReceipts(db, rows), keys.receipts),
    natives: writer('natives', (rows) => addNatives(db, rows)),
    usage: writer('usage', (rows) => addUsage(db, rows)),
  }
}

function lastKeys(db: DatabaseSync) {
  const last = <T>(sql: string, keyOf: (row: Row) => T) => {
    return (): T | undefined => {
      const row = db.prepare(`${sql} LIMIT 1`).get()
      return row && keyOf(row)
    }
  }
  const owner = (row: Row) => text(row, 'owner')
  const of = (table: string) => `FROM ${table} t ${OWNER} ORDER BY`
  return {
    sessions: last('SELECT id FROM session ORDER BY n DESC', (row) => ({ id: text(row, 'id') })),
    log: last(`SELECT s.id AS owner, t.first ${of('log')} t.id DESC`, (row) => ({
      session: owner(row),
      first: integer(row, 'first'),
    })),
    journal: last(`SELECT s.id AS owner, t.last ${of('journal')} t.id DESC`, (row) => ({
      session: owner(row),
      last: integer(row, 'last'),
    })),
    queued: last(`SELECT s.id AS owner, t.turn ${of('queued')} t.session DESC, t.turn DESC`, (row) => ({
      session: owner(row),
      turn: integer(row, 'turn'),
    })),
    blobs: last(`SELECT s.id AS owner, t.id ${of('blob')} t.session DESC, t.id DESC`, (row) => ({
      session: owner(row),
      id: text(row, 'id'),
    })),
    receipts: last('SELECT id FROM receipt ORDER BY id DESC', (row) => ({ id: text(row, 'id') })),
  }
}

function transact(db: DatabaseSync, work: () => void): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    work()
    db.exec('COMMIT')
  } catch (thrown) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw thrown
  }
}

function addSessions(db: DatabaseSync, rows: Rows<'sessions'>): void {
  const add = db.prepare(`INSERT INTO session (n, id, earliest, earliest_frame, edge_sum, fence, lease_sum)
    VALUES (?, ?, ?, ?, ?, ?, ?)`)
  const setRecord = db.prepare(
    'UPDATE session SET principal = ?, status = ?, asking = ?, record = ?, sum = ? WHERE n = ?',
  )
  const setTail = db.prepare('INSERT INTO tail VALUES (?, ?, ?, ?)')
  const setCounts = db.prepare('INSERT INTO heard VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  let n = integer(db.prepare('SELECT coalesce(max(n), 0) AS n FROM session').get() ?? {}, 'n')
  for (const { id, fence, head, at, earliest, earliestFrame, frameCounts, record } of rows) {
    n++
    const sum = counterSum({ n, earliest, earliestFrame, queued: 0 })
    add.run(n, id, earliest, earliestFrame, sum, fence, leaseSum({ n, fence, owner: undefined }))
    if (record) {
      const { principal, status, text } = record
      const asking = Number(record.asking)
      const recorded = recordSum(n, asking, [id, principal, status, text])
      // An update, because the triggers that count sessions and native conversations follow updates.
      setRecord.run(principal, status, asking, text, recorded, n)
    }
    if (head > 0) setTail.run(n, head, at, checksum([n, head, at]))
    if (frameCounts) {
      const { frames, mapped, unmapped, malformed, oversized } = frameCounts.coverage
      const numbers = [n, frameCounts.frames, frames, mapped, unmapped, malformed, oversized]
      setCounts.run(...numbers, checksum(numbers))
    }
  }
}

function addCommits(db: DatabaseSync, rows: Rows<'log'>): void {
  const numberOf = numbersIn(db)
  const add = db.prepare(
    'INSERT INTO log (id, session, first, last, at, body, version, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  let id = logTop(db)
  for (const { session, first, last, at, version, text } of rows) {
    const n = numberOf(session)
    add.run(++id, n, first, last, at, text, version, checksum([n, first, last, version], text))
  }
}

function addFrames(db: DatabaseSync, rows: Rows<'journal'>): void {
  const numberOf = numbersIn(db)
  const add = db.prepare('INSERT INTO journal (session, last, encoding, body, sum) VALUES (?, ?, ?, ?, ?)')
  for (const { session, last, encoding, body } of rows) {
    const n = numberOf(session)
    add.run(n, last, encoding, body, checksum([n, last, encoding], body))
  }
}

function addPrompts(db: DatabaseSync, rows: Rows<'queued'>): void {
  const numberOf = numbersIn(db)
  const add = db.prepare(
    'INSERT INTO queued (session, turn, body, sum, whole, whole_sum) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const count = db.prepare('UPDATE session SET queued = queued + 1 WHERE n = ?')
  for (const { session, turn, text, whole } of rows) {
    const n = numberOf(session)
    const wholeSum = whole === undefined ? null : checksum([n, turn], whole)
    changeCounters(db, n, () => {
      add.run(n, turn, text, checksum([n, turn], text), whole ?? null, wholeSum)
      count.run(n)
    })
  }
}

function addBlobs(
  db: DatabaseSync,
  rows: Rows<'blobs'>,
  contentOf: (id: string) => number | undefined,
): void {
  const numberOf = numbersIn(db)
  const add = db.prepare('INSERT INTO blob (id, session, sum) VALUES (?, ?, ?)')
  for (const { session, id } of rows) {
    const n = numberOf(session)
    const content = contentOf(id)
    add.run(id, n, content === undefined ? null : blobSum(id, n, content))
  }
}

function addReceipts(db: DatabaseSync, rows: Rows<'receipts'>): void {
  const add = db.prepare('INSERT INTO receipt (id, session, at, body, sum) VALUES (?, ?, ?, ?, ?)')
  for (const { id, session, at, text } of rows)
    add.run(id, session, at, text, checksum([at], id, session, text))
}

/** Records have added some of them. */
function addNatives(db: DatabaseSync, rows: Rows<'natives'>): void {
  const add = db.prepare('INSERT INTO native VALUES (?, ?) ON CONFLICT DO NOTHING')
  for (const { id, principal } of rows) add.run(id, principal)
}

function addUsage(db: DatabaseSync, rows: Rows<'usage'>): void {
  const places = ['', '', '', '', '', '', ...COLUMNS].map(() => '?')
  const add = db.prepare(`INSERT OR REPLACE INTO spent VALUES (${places.join(', ')})`)
  for (const { values } of rows) add.run(...values)
}

/** Finds the number of a session by its id. */
function numbersIn(db: DatabaseSync): (session: string) => number {
  const find = db.prepare('SELECT n FROM session WHERE id = ?')
  return (session) => integer(find.get(session) ?? {}, 'n')
}
