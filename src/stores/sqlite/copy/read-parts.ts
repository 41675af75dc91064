import type { DatabaseSync } from 'node:sqlite'
import { checksum, matches } from '../../checksum.ts'
import type {
  CopiedBlob,
  CopiedCommit,
  CopiedFrames,
  CopiedNative,
  CopiedPrompt,
  CopiedReceipt,
  CopiedSession,
  CopiedUsage,
  PartReader,
  PartReaders,
} from '../../copy/copyable.ts'
import { pagesOf } from '../../copy/page.ts'
import { sourceChanged } from '../../copy/refusals.ts'
import { COLUMNS } from '../../daily-usage.ts'
import { damaged } from '../../damaged.ts'
import { bytes, integer, type Row, text } from '../../row.ts'
import { upcastRecord } from '../../upcast.ts'
import { leaseIn, textOrNone } from '../lease-row.ts'
import { receiptSum } from '../receipts.ts'
import { checkRecord, endOf, frameCountsIn, RECORD } from '../record-row.ts'
import { JOURNAL_IDS } from '../schema.ts'

const LEASE = 'SELECT n, id, fence, owner, lease_sum AS leaseSum FROM session WHERE n = ?'
// CROSS JOIN keeps SQLite from starting with the sessions, which would need a sort.
const LOG = `SELECT s.id AS owner, l.session, l.first, l.last, l.at, l.version, l.body, l.sum
  FROM log l CROSS JOIN session s ON s.n = l.session WHERE l.id > ? ORDER BY l.id`
const JOURNAL = `SELECT session, last, encoding, body, sum FROM journal WHERE id IN (${JOURNAL_IDS}) ORDER BY id`
const QUEUED = `SELECT s.id AS owner, q.session, q.turn, q.body, q.sum, q.whole, q.whole_sum AS wholeSum
  FROM queued q JOIN session s ON s.n = q.session WHERE (q.session, q.turn) > (?, ?) ORDER BY q.session, q.turn`
const BLOBS = `SELECT s.id AS owner, b.id FROM session s CROSS JOIN blob b ON b.session = s.n
  WHERE (s.n, b.id) > (?, ?) ORDER BY s.n, b.id`
const RECEIPTS = 'SELECT id, session, at, body, sum FROM receipt WHERE id > ? ORDER BY id'
const USAGE = ['principal', 'agent', 'model', 'day', 'sessions', 'turns', ...COLUMNS]

/** Reads the parts of a database that no other process writes to. */
export function readParts(db: DatabaseSync): PartReaders {
  return {
    sessions: reader((after) => sessions(db, after), sessionSize),
    log: reader(
      (after) => log(db, after),
      ({ text }) => text.length,
    ),
    journal: reader(
      (after) => journal(db, after),
      ({ body }) => body.length,
    ),
    queued: reader((after) => queued(db, after), promptSize),
    blobs: reader((after) => blobs(db, after)),
    receipts: reader(
      (after) => receipts(db, after),
      ({ text }) => text.length,
    ),
    natives: reader(() => natives(db)),
    usage: reader(() => usage(db)),
  }
}

function reader<T, Key>(
  rows: (after: Key | undefined) => Iterable<T>,
  sizeOf: (row: T) => number = () => 0,
): PartReader<T, Key> {
  return {
    async *read(after) {
      yield* pagesOf(rows(after), sizeOf)
    },
  }
}

const sessionSize = ({ record }: CopiedSession) => record?.text.length ?? 0
const promptSize = ({ text, whole = '' }: CopiedPrompt) => text.length + whole.length

function* sessions(db: DatabaseSync, after: { id: string } | undefined): Generator<CopiedSession> {
  const lease = db.prepare(LEASE)
  const from = after === undefined ? 0 : numberOf(db, after.id)
  for (const row of db.prepare(`${RECORD} WHERE s.n > ? ORDER BY s.n`).iterate(from)) {
    checkRecord(row)
    const { head, updatedAt } = endOf(row)
    const { fence } = leaseIn(lease.get(integer(row, 'n')) ?? {})
    yield {
      id: text(row, 'id'),
      fence,
      head,
      at: updatedAt,
      earliest: integer(row, 'earliest'),
      earliestFrame: integer(row, 'earliestFrame'),
      ...(row.lastFrame !== null && { frameCounts: frameCountsIn(row) }),
      ...(row.record !== null && { record: recordIn(row) }),
    }
  }
}

function recordIn(row: Row): NonNullable<CopiedSession['record']> {
  const [principal, status] = [text(row, 'principal'), text(row, 'status')]
  return { principal, status, asking: row.asking === 1, text: currentText(text(row, 'record')) }
}

/** Records have no version, so one of an older Mainstem is converted; any other is copied unchanged. */
function currentText(stored: string): string {
  const record: unknown = JSON.parse(stored)
  const converted = JSON.stringify(upcastRecord(record))
  return converted === JSON.stringify(record) ? stored : converted
}

function* log(
  db: DatabaseSync,
  after: { session: string; first: number } | undefined,
): Generator<CopiedCommit> {
  const from = after === undefined ? 0 : commitId(db, after)
  for (const row of db.prepare(LOG).iterate(from)) {
    const [first, last, version] = [integer(row, 'first'), integer(row, 'last'), integer(row, 'version')]
    const [session, body] = [text(row, 'owner'), text(row, 'body')]
    if (!matches(row.sum, () => checksum([integer(row, 'session'), first, last, version], body)))
      throw damaged('the log', { session, first, last })
    yield { session, first, last, at: integer(row, 'at'), version, text: body }
  }
}

function commitId(db: DatabaseSync, { session, first }: { session: string; first: number }): number {
  const row = db
    .prepare('SELECT id FROM log WHERE session = ? AND first = ?')
    .get(numberOf(db, session), first)
  if (!row) throw sourceChanged(`the log of session ${session}`)
  return integer(row, 'id')
}

function* journal(
  db: DatabaseSync,
  after: { session: string; last: number } | undefined,
): Generator<CopiedFrames> {
  const frames = db.prepare(JOURNAL)
  const from = after === undefined ? 0 : numberOf(db, after.session)
  for (const { n, id } of db.prepare('SELECT n, id FROM session WHERE n >= ? ORDER BY n').iterate(from)) {
    const [number, session] = [Number(n), String(id)]
    const start = number === from ? (after?.last ?? -1) : -1
    for (const row of frames.iterate({ n: number, after: start })) {
      const [last, encoding, body] = [integer(row, 'last'), integer(row, 'encoding'), bytes(row, 'body')]
      if (!matches(row.sum, () => checksum([number, last, encoding], body)))
        throw damaged('the raw frames', { session })
      yield { session, last, encoding, body }
    }
  }
}

function* queued(
  db: DatabaseSync,
  after: { session: string; turn: number } | undefined,
): Generator<CopiedPrompt> {
  const from = after === undefined ? [0, 0] : [numberOf(db, after.session), after.turn]
  for (const row of db.prepare(QUEUED).iterate(...from)) {
    const [session, turn, body] = [text(row, 'owner'), integer(row, 'turn'), text(row, 'body')]
    const whole = textOrNone(row.whole)
    const sumOf = (body: string) => checksum([integer(row, 'session'), turn], body)
    const isIntact =
      matches(row.sum, () => sumOf(body)) &&
      (whole === undefined || matches(row.wholeSum, () => sumOf(whole)))
    if (!isIntact) throw damaged('the queue', { session })
    yield { session, turn, text: body, ...(whole !== undefined && { whole }) }
  }
}

function* blobs(db: DatabaseSync, after: CopiedBlob | undefined): Generator<CopiedBlob> {
  const from = after === undefined ? ([0, ''] as const) : ([numberOf(db, after.session), after.id] as const)
  for (const row of db.prepare(BLOBS).iterate(...from))
    yield { session: text(row, 'owner'), id: text(row, 'id') }
}

function* receipts(db: DatabaseSync, after: { id: string } | undefined): Generator<CopiedReceipt> {
  for (const row of db.prepare(RECEIPTS).iterate(after?.id ?? '')) {
    const session = text(row, 'session')
    if (!matches(row.sum, () => receiptSum(row))) throw damaged('an idempotency key', { session })
    yield { id: text(row, 'id'), session, at: integer(row, 'at'), text: text(row, 'body') }
  }
}

function* natives(db: DatabaseSync): Generator<CopiedNative> {
  for (const row of db.prepare('SELECT id, principal FROM native').iterate())
    yield { id: text(row, 'id'), principal: text(row, 'principal') }
}

function* usage(db: DatabaseSync): Generator<CopiedUsage> {
  for (const row of db.prepare('SELECT * FROM spent').iterate()) yield usageIn(row)
}

/** The same list of values from every store. */
function usageIn(row: Row): CopiedUsage {
  return {
    values: USAGE.map((name) => {
      const value = row[name]
      return typeof value === 'string' || typeof value === 'number' ? value : null
    }),
  }
}

/** The number of a session that was copied already. */
function numberOf(db: DatabaseSync, session: string): number {
  const row = db.prepare('SELECT n FROM session WHERE id = ?').get(session)
  if (!row) throw sourceChanged(`session ${session}`)
  return integer(row, 'n')
}
