import type { Row } from '../row.ts'
import { columnsOf, RECORD_COLUMNS, type Sum, sumOf, TABLES, type TableName } from '../tables.ts'
import { toColumn } from './columns.ts'
import { SUMS } from './table-rows.ts'

/** The parameters of one statement, in the order in which they are added. */
export class Parameters {
  readonly values: unknown[] = []
  readonly #pieces: Buffer[] = []
  #bytes = 0

  /** The first parameter has the texts of all rows, so that none of them has to be quoted inside an array. */
  constructor() {
    this.values.push(undefined)
  }

  add(value: unknown, type: string): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }

  /** Adds a text or bytes to the first parameter; `pos` and `bytes` find it again. */
  piece(body: string | Uint8Array): { pos: number; bytes: number } {
    const piece =
      typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.length)
    const pos = this.#bytes + 1
    this.#pieces.push(piece)
    this.#bytes += piece.length
    return { pos, bytes: piece.length }
  }

  /** Rows as a table: each column is one array. */
  rows(alias: string, columns: Readonly<Record<string, string>>, rows: readonly Row[]): string {
    const names = Object.keys(columns)
    const arrays = names.map((name) =>
      this.add(
        rows.map((row) => row[name]),
        `${columns[name]}[]`,
      ),
    )
    return `unnest(${arrays.join(', ')}) AS ${alias}(${names.map((name) => `"${name}"`).join(', ')})`
  }

  /** The values, with the first one complete. */
  finish(): unknown[] {
    this.values[0] = Buffer.concat(this.#pieces)
    return this.values
  }
}

/** Columns of one type. */
export const typed = (type: string, ...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, type]))

/** A piece of the first parameter, of the row with this alias. */
export const PIECE = {
  text: (alias: string, pos = 'pos', bytes = 'bytes') =>
    `convert_from(substring($1::bytea FROM ${alias}.${pos} FOR ${alias}.${bytes}), 'UTF8')`,
  bytes: (alias: string, pos = 'pos', bytes = 'bytes') =>
    `substring($1::bytea FROM ${alias}.${pos} FOR ${alias}.${bytes})`,
}

/** The clock of the database in milliseconds; a test has its own. */
export function nowSql(parameters: Pick<Parameters, 'add'>, now: number | null): string {
  return `coalesce(${parameters.add(now, 'float8')}, extract(epoch FROM clock_timestamp())::float8 * 1000)`
}

/** Rows as a table `g`, and the expression of each column and checksum. */
export interface GivenRows {
  from: string
  columns: Readonly<Record<string, string>>
}

const TYPES = { integer: 'bigint', real: 'float8', flag: 'boolean', name: 'text', text: 'text' } as const

/**
 * Adds rows to the parameters of a statement, with their place in this list and the checksums of this store. If rows have
 * `of`, it is the session whose commit they belong to. `part` names the columns that rows have, if not all.
 */
export function givenRows(
  parameters: Parameters,
  table: TableName,
  rows: readonly Row[],
  part?: readonly string[],
): GivenRows {
  const given = columnsOf(table).filter(([name]) => part?.includes(name) ?? true)
  const isOwned = rows[0]?.of !== undefined
  const types: Record<string, string> = { place: 'int', ...(isOwned && { of: 'text' }) }
  const columns: Record<string, string> = {}
  const sums = sumsOf(table, part)
  const values = rows.map((row, place) => {
    const value: Record<string, unknown> = { place, of: columnOf(row.of) }
    for (const [name, { type }] of given) {
      if (isPiece(table, name, type)) addPiece(parameters, value, name, row[name])
      else value[name] = type === 'name' ? columnOf(row[name]) : row[name]
    }
    for (const [name, sum] of sums) value[name] = isNone(row, sum.part) ? null : sumOf(sum, row)
    return value
  })
  for (const [name, { type }] of given) {
    if (type === 'bytes' || isPiece(table, name, type)) {
      const places = [`"${name}Pos"`, `"${name}Bytes"`] as const
      types[`${name}Pos`] = 'int'
      types[`${name}Bytes`] = 'int'
      columns[name] = type === 'bytes' ? PIECE.bytes('g', ...places) : PIECE.text('g', ...places)
    } else {
      types[name] = TYPES[type]
      columns[name] = `g."${name}"`
    }
  }
  for (const [name] of sums) {
    types[name] = 'bigint'
    columns[name] = `g."${name}"`
  }
  return { from: parameters.rows('g', types, values), columns }
}

/** Inserts all columns of the given rows; `changed` replaces some of them, and `from` may join other tables. */
export function insertOf(
  table: TableName,
  { columns }: Pick<GivenRows, 'columns'>,
  from: string,
  changed: Readonly<Record<string, string>> = {},
): string {
  const all = { ...columns, ...changed }
  return `INSERT INTO @${table} (${quoted(all)}) SELECT ${Object.values(all).join(', ')} FROM ${from}`
}

/** Inserts the records of given rows; `session` is the number of theirs. */
export function insertRecords(given: GivenRows, from: string, session: string): string {
  const all = { session, ...recordColumns(given) }
  return `INSERT INTO @record (${quoted(all)}) SELECT ${Object.values(all).join(', ')} FROM ${from}`
}

/** The columns of a record in its own table. */
export function recordColumns({ columns }: Pick<GivenRows, 'columns'>): Record<string, string> {
  const { record, ...others } = columns
  const own = RECORD_COLUMNS.flatMap((name) => (name in others ? [[name, `g."${name}"`]] : []))
  return { ...Object.fromEntries(own), sum: 'g.record_sum', body: `${record}` }
}

/** The names of columns. */
export const quoted = (columns: object) =>
  Object.keys(columns)
    .map((name) => `"${name}"`)
    .join(', ')

/** Long texts are pieces of one parameter, where nothing has to be quoted. */
function isPiece(table: TableName, name: string, type: string): boolean {
  const key: readonly string[] = TABLES[table].key
  return type === 'bytes' || (type === 'text' && !key.includes(name))
}

function addPiece(parameters: Parameters, to: Record<string, unknown>, name: string, body: unknown): void {
  const isBody = typeof body === 'string' || body instanceof Uint8Array
  const { pos, bytes } = isBody ? parameters.piece(body) : { pos: null, bytes: null }
  to[`${name}Pos`] = pos
  to[`${name}Bytes`] = bytes
}

/** The checksums that can be computed from these columns of a row, and its session. */
function sumsOf(table: TableName, part: readonly string[] | undefined): [name: string, sum: Sum][] {
  const sums: Readonly<Record<string, Sum>> = SUMS[table]
  const known = ['session', ...(part ?? Object.keys(TABLES[table].columns))]
  return Object.entries(sums).filter(
    ([, { of, isComputed }]) => !isComputed && of.every((name) => known.includes(name)),
  )
}

const isNone = (row: Row, part: string | undefined) => part !== undefined && row[part] === null

const columnOf = (value: unknown) => (typeof value === 'string' ? toColumn(value) : value)
