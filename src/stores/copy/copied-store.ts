import { damaged } from '../refusals.ts'
import { integer, type Row, text } from '../row.ts'
import { toTableRow } from '../table-row.ts'
import { columnsOf, damagedPart, isFree, type Sums, TABLES, type TableName } from '../tables.ts'
import { upcastRecord } from '../upcast.ts'
import {
  type CopyTotals,
  PAGE_BYTES,
  PAGE_ROWS,
  PARTS,
  sourceChanged,
  type TargetState,
  UNORDERED,
} from './copyable.ts'

/** The statements of a copy, for one database. `@` stands before the name of a table. */
export interface CopyStatements {
  readonly sums: Sums
  /** The number of a session in `selectOf('session')`. */
  readonly number: string
  /** Finds the highest id of the log. */
  readonly lastCommit: string
  /** The tables besides those of `tables.ts` that a copy writes to. */
  readonly own: readonly string[]
  selectOf(table: TableName, more?: string): string
  /** A name as a column has it, and a row with the names that were given. */
  toColumn(name: string): string
  named(table: TableName, row: Row): Row
  read(sql: string, values?: readonly unknown[]): Promise<Row[]>
  /** Reads for as long as it takes. */
  readAll(sql: string): Promise<Row[]>
  /** One transaction. */
  write(statements: readonly (readonly [sql: string, values?: readonly unknown[]])[]): Promise<void>
}

const TOTALS = `SELECT (SELECT count(*) FROM @session) AS sessions,
  (SELECT CAST(coalesce(sum(last - first + 1), 0) AS bigint) FROM @log) AS entries`
/** What belongs to no session belongs to a copy as well. */
const USED = `SELECT ${PARTS.filter((table) => table === 'session' || isFree(table))
  .map((table) => `EXISTS (SELECT 1 FROM @${table})`)
  .join(' OR ')} AS used`
const SET = 'INSERT INTO @setting VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value'

/** Ids of the log that one statement looks at: their index may find ranges of rows without sorting them. */
const RANGE = 5_000

/** A database that is copied, or that a copy is written to. */
export abstract class CopiedStore {
  abstract readonly name: string
  readonly #db: CopyStatements

  constructor(statements: CopyStatements) {
    this.#db = statements
  }

  async *read(table: TableName, after?: Row): AsyncGenerator<Row[]> {
    for await (const page of this.pages(table, after)) {
      // Blobs that no entry refers to are not copied.
      const rows = page.filter((row) => table !== 'blob' || row.session !== null)
      yield rows.map((row) => copiedRow(this.#db.sums, table, this.#db.named(table, row)))
    }
  }

  async totals(): Promise<CopyTotals> {
    const [row = {}] = await this.#db.readAll(TOTALS)
    return { sessions: integer(row, 'sessions'), entries: integer(row, 'entries') }
  }

  /** The key of the last row, if the table has an order that is the same in every database. */
  async last(table: TableName): Promise<Row | undefined> {
    if (UNORDERED.has(table)) return undefined
    const order = table === 'log' ? ['t.id'] : this.#orderOf(table).map(([, column]) => column)
    const where = table === 'blob' ? 'WHERE t.session IS NOT NULL' : ''
    const descending = order.map((column) => `${column} DESC`).join(', ')
    const [row] = await this.#db.readAll(
      `${this.#db.selectOf(table)} ${where} ORDER BY ${descending} LIMIT 1`,
    )
    const named = row && this.#db.named(table, row)
    return named && Object.fromEntries(TABLES[table].key.map((name) => [name, named[name]]))
  }

  async state(): Promise<TargetState> {
    const [unfinished, finished] = [await this.#setting('copy'), await this.#setting('copied')]
    const [{ used } = {}] = await this.#db.read(USED)
    return {
      ...(unfinished !== undefined && { unfinished }),
      ...(finished !== undefined && { finished }),
      isEmpty: Number(used) === 0,
    }
  }

  async begin(source: string): Promise<void> {
    await this.#db.write([[SET, ['copy', source]]])
  }

  async clear(): Promise<void> {
    const tables = [...PARTS.filter((table) => table !== 'session'), ...this.#db.own, 'session']
    await this.#db.write(tables.map((table) => [`DELETE FROM @${table}`]))
  }

  async finish(source: string): Promise<void> {
    await this.#db.write([["DELETE FROM @setting WHERE name = 'copy'"], [SET, ['copied', source]]])
  }

  protected pages(table: TableName, after: Row | undefined): AsyncIterable<Row[]> {
    return table === 'log' ? this.#commits(after) : this.#rows(table, after)
  }

  /** The number of a session that was copied already. */
  protected async numberOf(session: string): Promise<number> {
    const [row] = await this.#db.read('SELECT n FROM @session WHERE id = $1', [this.#db.toColumn(session)])
    if (!row) throw sourceChanged(`session ${session}`)
    return integer(row, 'n')
  }

  async *#rows(table: TableName, after: Row | undefined): AsyncGenerator<Row[]> {
    const order = this.#orderOf(table)
    const columns = order.map(([, column]) => column).join(', ')
    const names = order.map(([name]) => `"${name}"`).join(', ')
    const from = `WHERE (${columns}) > (${order.map((_, index) => `$${index + 1}`).join(', ')})`
    let place = after && (await this.#placeOf(table, after))
    for (;;) {
      const rows = `${this.#db.selectOf(table)} ${place ? from : ''} ORDER BY ${columns} LIMIT ${PAGE_ROWS}`
      const page = await this.#db.read(pageOf(table, rows, names), place ?? [])
      const last = page.at(-1)
      if (!last) return
      yield page
      place = order.map(([name]) => last[name])
    }
  }

  async *#commits(after: Row | undefined): AsyncGenerator<Row[]> {
    const range = `WHERE t.id > $1 AND t.id <= $2 ORDER BY t.id LIMIT ${PAGE_ROWS}`
    const sql = pageOf('log', `${this.#db.selectOf('log', ', t.id')} ${range}`, 'id')
    const [{ id: top } = {}] = await this.#db.readAll(this.#db.lastCommit)
    let place = after ? await this.#commitOf(after) : 0
    while (place < Number(top)) {
      const page = await this.#db.read(sql, [place, place + RANGE])
      const last = page.at(-1)
      if (last) yield page
      place = last ? integer(last, 'id') : place + RANGE
    }
  }

  /** The columns by which the rows of a table are in order: their names in `selectOf`, and what they are there. */
  #orderOf(table: TableName): [name: string, column: string][] {
    return TABLES[table].key.map((name) => {
      if (name !== 'session') return [name, `t."${name}"`]
      return ['n', table === 'session' ? this.#db.number : 't.session']
    })
  }

  /** Where a row is in the order of its table. */
  #placeOf(table: TableName, key: Row): Promise<unknown[]> {
    const columns = new Map(columnsOf(table))
    return Promise.all(
      TABLES[table].key.map((name) => {
        if (name === 'session' && !isFree(table)) return this.numberOf(text(key, name))
        return columns.get(name)?.type === 'name' ? this.#db.toColumn(text(key, name)) : key[name]
      }),
    )
  }

  async #commitOf(key: Row): Promise<number> {
    const n = await this.numberOf(text(key, 'session'))
    const [row] = await this.#db.read('SELECT id FROM @log WHERE session = $1 AND first = $2', [n, key.first])
    if (!row) throw sourceChanged(`the log of session ${key.session}`)
    return integer(row, 'id')
  }

  async #setting(name: string): Promise<string | undefined> {
    const [row] = await this.#db.read('SELECT value FROM @setting WHERE name = $1', [name])
    return row && text(row, 'value')
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

/** The row of a database as every store has it. Throws if it does not match its checksums. */
function copiedRow(sums: Sums, table: TableName, row: Row): Row {
  const isLost = typeof row.session !== 'string' && isRequired(table, 'session')
  // The checksum of a blob is compared when its content is read.
  const what = table === 'blob' ? undefined : damagedPart(sums[table], row)
  if (what !== undefined || isLost) throw damaged(what ?? `a row of ${table}`, locationOf(row))
  if (table !== 'session') return toTableRow(table, row)
  const session = toTableRow(table, row)
  return { ...session, owner: null, record: session.record === null ? null : currentText(session.record) }
}

function isRequired(table: TableName, column: string): boolean {
  return columnsOf(table).some(([name, { optional }]) => name === column && !optional)
}

/** Records have no version, so one of an older Mainstem is converted; any other is copied unchanged. */
function currentText(stored: string): string {
  const record: unknown = JSON.parse(stored)
  const converted = JSON.stringify(upcastRecord(record))
  return converted === JSON.stringify(record) ? stored : converted
}

function locationOf({ session, first, last }: Row) {
  return {
    ...(typeof session === 'string' && { session }),
    ...(typeof first === 'number' && typeof last === 'number' && { first, last }),
  }
}

/** Records add native conversations, and a copy that is continued adds unordered tables again: the usage may have grown. */
export function addedAgain(table: TableName): string {
  if (table !== 'spent') return 'ON CONFLICT DO NOTHING'
  const { columns, key } = TABLES.spent
  const keys: readonly string[] = key
  const counts = Object.keys(columns).filter((name) => !keys.includes(name))
  const updates = counts.map((name) => `"${name}" = excluded."${name}"`)
  return `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${updates.join(', ')}`
}
