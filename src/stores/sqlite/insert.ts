import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Row } from '../row.ts'
import { columnsOf, isFree, type Sum, sumOf, type TableName } from '../tables.ts'
import { SUMS } from './sums.ts'

/** The tables whose rows are the same in every database; a session is in three of them. */
type WholeTable = Exclude<TableName, 'session'>

/** Prepares the statement that adds a row with its checksums; `n` of the row is the number of its session. */
export function inserter(db: DatabaseSync, table: WholeTable, onConflict = ''): (row: Row) => void {
  const names = [...columnsOf(table).map(([name]) => name), ...Object.keys(SUMS[table])]
  const columns = {
    ...same(...names),
    ...(!isFree(table) && { session: 'n' }),
    // Ids of the log are given here, and never twice.
    ...(table === 'log' && { id: 'id' }),
  }
  const insert = insertInto(db, table, columns, onConflict)
  return (row) => insert(withSums(table, row))
}

/** Prepares a statement that adds a row: each column has a value of the row with this name. */
export function insertInto(
  db: DatabaseSync,
  table: string,
  columns: Readonly<Record<string, string>>,
  onConflict = '',
): (row: Row) => void {
  const [names, values] = [Object.keys(columns), Object.values(columns)]
  const places = names.map(() => '?').join(', ')
  const statement = db.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places}) ${onConflict}`)
  return (row) => {
    statement.run(...values.map((name) => toInput(row[name])))
  }
}

/** Columns that have the names that they have in a row. */
export function same(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, name]))
}

/** The row with its checksums. A row has none of a part that it has not, or whose values are unknown. */
export function withSums(table: TableName, row: Row): Row {
  const sums: Readonly<Record<string, Sum>> = SUMS[table]
  const summed: Record<string, unknown> = { ...row }
  for (const [column, sum] of Object.entries(sums)) {
    const isNone = sum.part !== undefined && row[sum.part] === null
    const isUnknown = sum.of.some((name) => row[name] === undefined)
    summed[column] = isNone || isUnknown ? null : sumOf(sum, row)
  }
  return summed
}

export function toInput(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'string' || typeof value === 'number' || value instanceof Uint8Array) return value
  return null
}
