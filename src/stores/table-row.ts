import { bytes, integer, type Row, text } from './row.ts'
import { type Column, columnsOf, type TableName, type TableRow } from './tables.ts'

/** The columns of a table from a row of a database, which may have more. */
export function toTableRow<T extends TableName>(table: T, row: Row): TableRow<T> {
  const values = columnsOf(table).map(([name, column]) => [name, valueIn(row, name, column)])
  return Object.fromEntries(values) as TableRow<T>
}

function valueIn(row: Row, name: string, { type, optional: isOptional }: Column): unknown {
  if (isOptional && (row[name] ?? null) === null) return null
  switch (type) {
    case 'integer':
    case 'real':
      return integer(row, name)
    case 'name':
    case 'text':
      return text(row, name)
    case 'bytes':
      return bytes(row, name)
    case 'flag':
      // SQLite has numbers instead.
      return row[name] === true || row[name] === 1
    default:
      return type satisfies never
  }
}
