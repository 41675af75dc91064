import type {
  CopiedBlob,
  CopiedCommit,
  CopiedFrames,
  CopiedNative,
  CopiedPrompt,
  CopiedReceipt,
  CopiedSession,
  CopiedUsage,
  CopyKeys,
  CopyRows,
  Part,
  PartReader,
  PartReaders,
} from '../../copy/copyable.ts'
import { PAGE_BYTES, PAGE_ROWS } from '../../copy/page.ts'
import { sourceChanged } from '../../copy/refusals.ts'
import { COLUMNS } from '../../daily-usage.ts'
import { damaged } from '../../damaged.ts'
import { bytes, integer, type Row, text } from '../../row.ts'
import { fromColumn, toColumn } from '../columns.ts'
import type { Database } from '../database.ts'
import { sums } from '../prepared-batch.ts'
import { countsIn } from '../record-reader.ts'

/** The query of one part: in the order of its keys, after the keys of a row. */
interface PartQuery<P extends Part> {
  /** Selects the columns of a row, its size as `bytes`, and its keys from the table `t`. */
  select: string
  keys: readonly string[]
  /** The keys of a row that was read. */
  keysOf(row: Row): readonly unknown[]
  /** The keys of a row that another store has as well. */
  find(key: CopyKeys[P]): readonly unknown[] | Promise<readonly unknown[]>
  toRow(row: Row): CopyRows[P]
}

const OWNER = 'JOIN @session s ON s.n = t.session'

const SESSIONS = `SELECT t.n, t.id, t.fence, t.head, t.at, t.earliest, t.earliest_frame AS "earliestFrame",
  t.last_frame AS "lastFrame", t.frames, t.mapped, t.unmapped, t.malformed, t.oversized,
  r.principal, r.status, r.asking, r.sum, r.body, coalesce(octet_length(r.body), 0) + 1 AS bytes
  FROM @session t LEFT JOIN @record r ON r.session = t.n`
const LOG = `SELECT t.id, s.id AS owner, t.first, t.last, t.at, t.version, t.sum, t.body, octet_length(t.body) AS bytes
  FROM @log t ${OWNER}`
const JOURNAL = `SELECT t.session, s.id AS owner, t.last, t.encoding, t.sum, t.body, octet_length(t.body) AS bytes
  FROM @journal t ${OWNER}`
const QUEUED = `SELECT t.session, s.id AS owner, t.turn, t.sum, t.body, t.whole_sum AS "wholeSum", t.whole,
  octet_length(t.body) + coalesce(octet_length(t.whole), 0) AS bytes FROM @queued t ${OWNER}`
const BLOBS = `SELECT t.session, s.id AS owner, t.id, 1 AS bytes FROM @blob t ${OWNER}`
const RECEIPTS = 'SELECT t.id, t.session, t.at, t.sum, t.body, octet_length(t.body) AS bytes FROM @receipt t'
const NATIVES = 'SELECT t.id, t.principal, 1 AS bytes FROM @native t'
const USAGE = 'SELECT t.*, 1 AS bytes FROM @spent t'
/** Ids of the log that one statement looks at. */
const RANGE = 5_000
const ACCOUNT = ['principal', 'agent', 'model', 'day'] as const

/** Reads the parts of a database that no server writes to. */
export function readParts(database: Database): PartReaders {
  const numberOf = (session: string) => findNumber(database, session)
  return {
    sessions: reader<'sessions'>(database, {
      select: SESSIONS,
      keys: ['n'],
      keysOf: (row) => [row.n],
      find: async ({ id }) => [await numberOf(id)],
      toRow: sessionIn,
    }),
    log: { read: (after) => commits(database, after) },
    journal: reader<'journal'>(database, {
      select: JOURNAL,
      keys: ['session', 'last'],
      keysOf: (row) => [row.session, row.last],
      find: async ({ session, last }) => [await numberOf(session), last],
      toRow: framesIn,
    }),
    queued: reader<'queued'>(database, {
      select: QUEUED,
      keys: ['session', 'turn'],
      keysOf: (row) => [row.session, row.turn],
      find: async ({ session, turn }) => [await numberOf(session), turn],
      toRow: promptIn,
    }),
    blobs: reader<'blobs'>(database, {
      select: BLOBS,
      keys: ['session', 'id'],
      keysOf: (row) => [row.session, row.id],
      find: async ({ session, id }) => [await numberOf(session), id],
      toRow: (row): CopiedBlob => ({ session: ownerOf(row), id: text(row, 'id') }),
    }),
    receipts: reader<'receipts'>(database, {
      select: RECEIPTS,
      keys: ['id'],
      keysOf: (row) => [row.id],
      find: ({ id }) => [id],
      toRow: receiptIn,
    }),
    natives: reader<'natives'>(database, {
      select: NATIVES,
      keys: ['id', 'principal'],
      keysOf: (row) => [row.id, row.principal],
      find: ({ id, principal }) => [toColumn(id), toColumn(principal)],
      toRow: (row): CopiedNative => ({
        id: fromColumn(text(row, 'id')),
        principal: fromColumn(text(row, 'principal')),
      }),
    }),
    usage: reader<'usage'>(database, {
      select: USAGE,
      keys: ACCOUNT,
      keysOf: (row) => ACCOUNT.map((name) => row[name]),
      find: ({ values }) => values.slice(0, ACCOUNT.length).map((value) => toColumn(String(value))),
      toRow: usageIn,
    }),
  }
}

function reader<P extends Part>(
  database: Database,
  { select, keys, keysOf, find, toRow }: PartQuery<P>,
): PartReader<CopyRows[P], CopyKeys[P]> {
  const columns = keys.map((key) => `t.${key}`).join(', ')
  const from = `WHERE (${columns}) > (${keys.map((_, index) => `$${index + 1}`).join(', ')})`
  const sqlOf = (where: string) =>
    pageOf(`${select} ${where} ORDER BY ${columns} LIMIT ${PAGE_ROWS}`, keys.join(', '))
  return {
    async *read(after) {
      let place = after === undefined ? undefined : await find(after)
      for (;;) {
        const rows = await database.read(sqlOf(place ? from : ''), place ?? [])
        const last = rows.at(-1)
        if (!last) return
        yield rows.map(toRow)
        place = keysOf(last)
      }
    },
  }
}

/** The first of these rows, and those that fit into a page with it. Sizes are summed before texts are loaded. */
function pageOf(rows: string, order: string): string {
  return `SELECT * FROM (SELECT p.*, sum(p.bytes) OVER (ORDER BY ${order}) - p.bytes AS before FROM (${rows}) p) q
    WHERE before = 0 OR before + bytes <= ${PAGE_BYTES} ORDER BY ${order}`
}

/** The index by commits finds ranges of rows and does not sort them, so each statement looks at one range. */
async function* commits(
  database: Database,
  after: CopyKeys['log'] | undefined,
): AsyncGenerator<CopiedCommit[]> {
  const sql = pageOf(`${LOG} WHERE t.id > $1 AND t.id <= $2 ORDER BY t.id LIMIT ${PAGE_ROWS}`, 'id')
  const [top = {}] = await database.read('SELECT last_value AS id FROM @log_id_seq')
  let place = after === undefined ? 0 : await findCommit(database, after)
  while (place < integer(top, 'id')) {
    const rows = await database.read(sql, [place, place + RANGE])
    const last = rows.at(-1)
    if (last) yield rows.map(commitIn)
    place = last ? integer(last, 'id') : place + RANGE
  }
}

async function findNumber(database: Database, session: string): Promise<number> {
  const [row] = await database.read('SELECT n FROM @session WHERE id = $1', [toColumn(session)])
  if (!row) throw sourceChanged(`session ${session}`)
  return integer(row, 'n')
}

async function findCommit(database: Database, { session, first }: CopyKeys['log']): Promise<number> {
  const sql = `SELECT t.id FROM @log t ${OWNER} WHERE s.id = $1 AND t.first = $2`
  const [row] = await database.read(sql, [toColumn(session), first])
  if (!row) throw sourceChanged(`the log of session ${session}`)
  return integer(row, 'id')
}

const ownerOf = (row: Row) => fromColumn(text(row, 'owner'))

function sessionIn(row: Row): CopiedSession {
  const id = fromColumn(text(row, 'id'))
  return {
    id,
    fence: integer(row, 'fence'),
    head: integer(row, 'head'),
    at: integer(row, 'at'),
    earliest: integer(row, 'earliest'),
    earliestFrame: integer(row, 'earliestFrame'),
    ...(row.lastFrame !== null && { frameCounts: countsIn(row) }),
    ...(row.body !== null && { record: recordIn(id, row) }),
  }
}

function recordIn(session: string, row: Row): NonNullable<CopiedSession['record']> {
  const [principal, status] = [fromColumn(text(row, 'principal')), fromColumn(text(row, 'status'))]
  const record = { principal, status, asking: row.asking === true, text: text(row, 'body') }
  if (row.sum !== sums.record(session, record)) throw damaged('the record', { session })
  return record
}

function commitIn(row: Row): CopiedCommit {
  const [session, first, last] = [ownerOf(row), integer(row, 'first'), integer(row, 'last')]
  const [at, version, body] = [integer(row, 'at'), integer(row, 'version'), text(row, 'body')]
  if (row.sum !== sums.log(session, { first, last, at, text: body }, version))
    throw damaged('the log', { session, first, last })
  return { session, first, last, at, version, text: body }
}

function framesIn(row: Row): CopiedFrames {
  const [session, last, encoding] = [ownerOf(row), integer(row, 'last'), integer(row, 'encoding')]
  // `pg` returns a Buffer, and SQLite an array that is not equal to one.
  const body = new Uint8Array(bytes(row, 'body'))
  if (row.sum !== sums.journal(session, { last, encoding, body }))
    throw damaged('the raw frames', { session })
  return { session, last, encoding, body }
}

function promptIn(row: Row): CopiedPrompt {
  const [session, turn, body] = [ownerOf(row), integer(row, 'turn'), text(row, 'body')]
  const whole = row.whole === null ? undefined : text(row, 'whole')
  const isIntact =
    row.sum === sums.queued(session, { turn, text: body }) &&
    (whole === undefined || row.wholeSum === sums.queued(session, { turn, text: whole }))
  if (!isIntact) throw damaged('the queue', { session })
  return { session, turn, text: body, ...(whole !== undefined && { whole }) }
}

function receiptIn(row: Row): CopiedReceipt {
  const [id, session, body] = [text(row, 'id'), fromColumn(text(row, 'session')), text(row, 'body')]
  if (row.sum !== sums.receipt({ id, session, text: body })) throw damaged('an idempotency key', { session })
  return { id, session, at: integer(row, 'at'), text: body }
}

function usageIn(row: Row): CopiedUsage {
  const [principal, agent, model] = ['principal', 'agent', 'model'].map((name) => fromColumn(text(row, name)))
  const names = { principal, agent, model }
  const columns = ['principal', 'agent', 'model', 'day', 'sessions', 'turns', ...COLUMNS]
  return {
    values: columns.map((name) => {
      const value = { ...row, ...names }[name]
      return typeof value === 'string' || typeof value === 'number' ? value : null
    }),
  }
}
