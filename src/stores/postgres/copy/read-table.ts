import { copiedRow, PAGE_BYTES, PAGE_ROWS, sourceChanged, UNORDERED } from '../../copy/copyable.ts'
import { integer, type Row, text } from '../../row.ts'
import { columnsOf, isFree, TABLES, type TableName } from '../../tables.ts'
import { toColumn } from '../columns.ts'
import type { Database, Reads } from '../database.ts'
import { namedRow, SUMS, selectOf } from '../table-rows.ts'

/** Ids of the log that one statement looks at. */
const RANGE = 5_000

/** The columns by which the rows of a table are in order, as `selectOf` names them. */
const orderOf = (table: TableName) =>
  TABLES[table].key.map((name) =>
    name === 'session' ? ['n', table === 'session' ? 't.n' : 't.session'] : [name, `t.${name}`],
  )

/** The rows of a table in the order of a copy, after one that was copied already. */
export async function* pagesAfter(
  database: Reads,
  table: TableName,
  after: Row | undefined,
): AsyncGenerator<Row[]> {
  const pages = table === 'log' ? commits(database, after) : rows(database, table, after)
  for await (const page of pages) {
    yield page
      // Blobs that no entry refers to are not copied.
      .filter((row) => table !== 'blob' || row.session !== null)
      .map((row) => copiedRow(SUMS, table, namedRow(table, row)))
  }
}

/** The key of the last row, if the table has an order that is the same in every database. */
export async function lastKey(database: Database, table: TableName): Promise<Row | undefined> {
  if (UNORDERED.has(table)) return undefined
  const order = table === 'log' ? ['t.id'] : orderOf(table).map(([, column]) => column)
  const where = table === 'blob' ? 'WHERE t.session IS NOT NULL' : ''
  const sql = `${selectOf(table)} ${where} ORDER BY ${order.map((column) => `${column} DESC`).join(', ')} LIMIT 1`
  // Without a timeout: the last commit is found by a scan.
  const [row] = await database.transaction(0, (query) => query(sql))
  const named = row && namedRow(table, row)
  return named && Object.fromEntries(TABLES[table].key.map((name) => [name, named[name]]))
}

async function* rows(database: Reads, table: TableName, after: Row | undefined): AsyncGenerator<Row[]> {
  const order = orderOf(table)
  const columns = order.map(([, column]) => column).join(', ')
  const names = order.map(([name]) => `"${name}"`).join(', ')
  const from = `WHERE (${columns}) > (${order.map((_, index) => `$${index + 1}`).join(', ')})`
  let place = after && (await placeOf(database, table, after))
  for (;;) {
    const sql = pageOf(
      table,
      `${selectOf(table)} ${place ? from : ''} ORDER BY ${columns} LIMIT ${PAGE_ROWS}`,
      names,
    )
    const page = await database.read(sql, place ?? [])
    const last = page.at(-1)
    if (!last) return
    yield page
    place = order.map(([name = '']) => last[name])
  }
}

/** The index by commits finds ranges of rows and does not sort them, so each statement looks at one range. */
async function* commits(database: Reads, after: Row | undefined): AsyncGenerator<Row[]> {
  const range = `${selectOf('log')} WHERE t.id > $1 AND t.id <= $2 ORDER BY t.id LIMIT ${PAGE_ROWS}`
  const sql = pageOf('log', range, 'id')
  const [top = {}] = await database.read('SELECT last_value AS id FROM @log_id_seq')
  let place = after ? await findCommit(database, after) : 0
  while (place < integer(top, 'id')) {
    const page = await database.read(sql, [place, place + RANGE])
    const last = page.at(-1)
    if (last) yield page
    place = last ? integer(last, 'id') : place + RANGE
  }
}

/** The first of these rows, and those that fit into a page with it. Sizes are summed before texts are loaded. */
function pageOf(table: TableName, sql: string, order: string): string {
  const texts = columnsOf(table).flatMap(([name, { type }]) =>
    type === 'text' || type === 'bytes' ? `coalesce(octet_length(p."${name}"), 0)` : [],
  )
  const bytes = ['1', ...texts].join(' + ')
  return `SELECT * FROM (SELECT *, sum(size) OVER (ORDER BY ${order}) - size AS before
      FROM (SELECT p.*, ${bytes} AS size FROM (${sql}) p) sized) summed
    WHERE before = 0 OR before + size <= ${PAGE_BYTES} ORDER BY ${order}`
}

/** Where a row is in the order of its table. */
async function placeOf(database: Reads, table: TableName, key: Row): Promise<unknown[]> {
  const columns: Readonly<Record<string, { type: string }>> = TABLES[table].columns
  return Promise.all(
    TABLES[table].key.map((name) => {
      if (name === 'session' && !isFree(table)) return findNumber(database, text(key, name))
      return columns[name]?.type === 'name' ? toColumn(text(key, name)) : key[name]
    }),
  )
}

async function findNumber(database: Reads, session: string): Promise<number> {
  const [row] = await database.read('SELECT n FROM @session WHERE id = $1', [toColumn(session)])
  if (!row) throw sourceChanged(`session ${session}`)
  return integer(row, 'n')
}

async function findCommit(database: Reads, key: Row): Promise<number> {
  const sql = 'SELECT t.id FROM @log t JOIN @session s ON s.n = t.session WHERE s.id = $1 AND t.first = $2'
  const [row] = await database.read(sql, [toColumn(text(key, 'session')), key.first])
  if (!row) throw sourceChanged(`the log of session ${key.session}`)
  return integer(row, 'id')
}
