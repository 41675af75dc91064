import type { Row } from '../row.ts'

/** Rows for another thread: posting a list for each column is cheaper than an object for each row. */
export type PackedRows = Record<string, unknown[]>

/** All rows of a list have the same columns. */
export function addRow(list: PackedRows, row: Row): void {
  for (const [column, value] of Object.entries(row)) {
    const values = list[column]
    if (values) values.push(value)
    else list[column] = [value]
  }
}

export function* rowsIn(list: PackedRows): Generator<Row> {
  const columns = Object.entries(list)
  const count = columns[0]?.[1].length ?? 0
  for (let at = 0; at < count; at++) {
    const row: Record<string, unknown> = {}
    for (const [column, values] of columns) row[column] = values[at]
    yield row
  }
}
