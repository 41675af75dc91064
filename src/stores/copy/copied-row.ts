import { damaged } from '../damaged.ts'
import type { Row } from '../row.ts'
import { columnsOf, damagedPart, type Sums, type TableName, toTableRow } from '../tables.ts'
import { upcastRecord } from '../upcast.ts'

/** The row of a database as every store has it. Throws if it does not match its checksums. */
export function copiedRow(sums: Sums, table: TableName, row: Row): Row {
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

/** The text and bytes of a row. */
export function sizeOf(row: Row): number {
  let size = 0
  for (const value of Object.values(row))
    if (typeof value === 'string' || value instanceof Uint8Array) size += value.length
  return size
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
