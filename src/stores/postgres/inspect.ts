import { crc32 } from 'node:zlib'
import { checksum } from '../checksum.ts'
import { bytes, integer, type Row, text } from '../row.ts'
import type { StoreDamage, StoreReport } from '../sqlite/inspect.ts'
import { fromColumn } from './columns.ts'
import { Database } from './database.ts'
import { sums } from './prepared-batch.ts'

/** Rows that are read at a time. */
const PAGE = 200

/** A table: what a row is called, its rows by key, and the checksum that a row should have. */
interface Table {
  what: string
  /** Selects the keys as `a` and `b`, with the id of the session as `owner`. */
  rows: string
  keys: [a: string, b: string]
  sum(owner: string, row: Row): number
}

const OWNER = 'JOIN @session s ON s.n = t.session'

const TABLES: readonly Table[] = [
  {
    what: 'the log',
    rows: `SELECT t.session AS a, t.first AS b, s.id AS owner, t.first, t.last, t.version, t.sum, t.body FROM @log t ${OWNER}`,
    keys: ['t.session', 't.first'],
    sum: (owner, row) => {
      const [first, last, body] = [integer(row, 'first'), integer(row, 'last'), text(row, 'body')]
      return sums.log(owner, { first, last, at: 0, text: body }, integer(row, 'version'))
    },
  },
  {
    what: 'the raw frames',
    rows: `SELECT t.session AS a, t.last AS b, s.id AS owner, t.last, t.encoding, t.sum, t.body FROM @journal t ${OWNER}`,
    keys: ['t.session', 't.last'],
    sum: (owner, row) => {
      const [last, encoding, body] = [integer(row, 'last'), integer(row, 'encoding'), bytes(row, 'body')]
      return sums.journal(owner, { last, encoding, body })
    },
  },
  {
    what: 'the record',
    rows: `SELECT t.session AS a, t.session AS b, s.id AS owner, t.principal, t.status, t.asking, t.sum, t.body
      FROM @record t ${OWNER}`,
    keys: ['t.session', 't.session'],
    sum: (owner, row) => {
      const [principal, status] = [fromColumn(text(row, 'principal')), fromColumn(text(row, 'status'))]
      return sums.record(owner, { principal, status, asking: row.asking === true, text: text(row, 'body') })
    },
  },
  {
    what: 'a queued prompt',
    rows: `SELECT t.session AS a, t.turn AS b, s.id AS owner, t.turn, t.sum, t.body FROM @queued t ${OWNER}`,
    keys: ['t.session', 't.turn'],
    sum: (owner, row) => sums.queued(owner, { turn: integer(row, 'turn'), text: text(row, 'body') }),
  },
  {
    what: 'an idempotency key',
    rows: 'SELECT t.id AS a, t.id AS b, t.session AS owner, t.id, t.sum, t.body FROM @receipt t',
    keys: ['t.id', 't.id'],
    sum: (owner, row) => sums.receipt({ id: text(row, 'id'), session: owner, text: text(row, 'body') }),
  },
]

/** Compares everything in a database with its checksums. Reads only, also while servers use it. */
export async function inspectPostgres(url: string): Promise<StoreReport> {
  await using database = await Database.open({ url })
  const file = `PostgreSQL at ${database.address.shown}`
  const damage: StoreDamage[] = []
  let checked = 0
  for (const table of TABLES) {
    for await (const row of rowsOf(database, table)) {
      checked++
      const session = fromColumn(text(row, 'owner'))
      const range = typeof row.first === 'number' && { first: row.first, last: integer(row, 'last') }
      if (row.sum !== table.sum(session, row)) damage.push({ file, what: table.what, session, ...range })
    }
  }
  checked += await inspectBlobs(database, (blob) => damage.push({ file, ...blob }))
  damage.push(...(await gaps((sql) => database.read(sql))).map((gap) => ({ file, ...gap })))
  const [count] = await database.read('SELECT count(*) AS sessions FROM @session')
  return { file, sessions: integer(count ?? {}, 'sessions'), checked, unchecked: 0, damage }
}

async function* rowsOf(database: Database, { rows, keys }: Table): AsyncGenerator<Row> {
  const [a, b] = keys
  let after: unknown[] = []
  for (;;) {
    const where = after.length === 0 ? '' : `WHERE (${a}, ${b}) > ($1, $2)`
    const page = await database.read(`${rows} ${where} ORDER BY ${a}, ${b} LIMIT ${PAGE}`, after)
    yield* page
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    after = [last.a, last.b]
  }
}

/** Logs whose rows do not follow each other up to the head. */
export async function gaps(query: (sql: string) => Promise<Row[]>): Promise<Omit<StoreDamage, 'file'>[]> {
  const rows = await query(`SELECT id, first, last FROM (
      SELECT s.id, coalesce(lag(l.last) OVER w + 1, s.earliest) AS first, l.first - 1 AS last
      FROM @session s JOIN @log l ON l.session = s.n WINDOW w AS (PARTITION BY s.n ORDER BY l.first)) found
    WHERE first <= last UNION ALL SELECT s.id, coalesce(max(l.last) + 1, s.earliest), s.head
    FROM @session s LEFT JOIN @log l ON l.session = s.n GROUP BY s.n HAVING coalesce(max(l.last), 0) < s.head`)
  return rows.map((row) => {
    const [first, last] = [integer(row, 'first'), integer(row, 'last')]
    return { what: 'the log', session: fromColumn(text(row, 'id')), first, last }
  })
}

async function inspectBlobs(
  database: Database,
  onDamage: (damage: Omit<StoreDamage, 'file'>) => void,
): Promise<number> {
  const blobs = await database.read(
    'SELECT b.id, b.bytes, b.sum, s.id AS owner FROM @blob b LEFT JOIN @session s ON s.n = b.session',
  )
  for (const row of blobs) {
    const id = text(row, 'id')
    let [length, sum] = [0, 0]
    for (let part = 0; length < integer(row, 'bytes'); part++) {
      const [found] = await database.read('SELECT body FROM @blob_part WHERE blob = $1 AND part = $2', [
        id,
        part,
      ])
      if (!found) break
      length += bytes(found, 'body').length
      sum = crc32(bytes(found, 'body'), sum)
    }
    if (row.sum === checksum([length, sum], id) && length === row.bytes) continue
    const session = typeof row.owner === 'string' && { session: fromColumn(row.owner) }
    onDamage({ what: `blob ${id}`, ...session })
  }
  return blobs.length
}
