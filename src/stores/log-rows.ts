import type { Entry } from '../model/index.ts'
import { storageFailed } from './refusals.ts'
import { namedTypes } from './row-types.ts'
import type { TableRow } from './tables.ts'

/** Separates entries. JSON text contains no newline, so the separator is unambiguous. */
export const BETWEEN = ',\n'

/** Limits the size of a row, because a read from its middle scans all of it. */
const ROW_ENTRIES = 256
const ROW_CHARS = 256 * 1024

/** The row of a log that is written now. */
export type LogRow = Omit<TableRow<'log'>, 'session' | 'version'>

/** The texts of entries, which the log and all readers share, and the rows that they make. */
export function toLogRows(entries: readonly Entry[]): { texts: readonly string[]; rows: LogRow[] } {
  const texts: string[] = []
  const rows: LogRow[] = []
  let [from, chars] = [0, 0]
  for (const entry of entries) {
    const text = toText(entry)
    const isFull = texts.length - from === ROW_ENTRIES || chars + text.length >= ROW_CHARS
    if (isFull && texts.length > from) {
      rows.push(toRow(entries.slice(from, texts.length), texts.slice(from)))
      from = texts.length
      chars = 0
    }
    texts.push(text)
    chars += text.length
  }
  if (texts.length > from)
    rows.push(from === 0 ? toRow(entries, texts) : toRow(entries.slice(from), texts.slice(from)))
  return { texts, rows }
}

function toText(entry: Entry): string {
  try {
    return JSON.stringify(entry)
  } catch (thrown) {
    // Too deep, or longer than the longest string: only this batch fails.
    throw storageFailed(`entry ${entry.seq} of ${entry.session} cannot be written`, thrown)
  }
}

function toRow(entries: readonly Entry[], texts: readonly string[]): LogRow {
  const { seq: last = 0, at = 0 } = entries.at(-1) ?? {}
  const types: string[] = []
  for (const { event } of entries) types.push(event.type)
  // One join: a string built in pieces is flattened piece by piece when it is posted to the thread.
  return { first: last - entries.length + 1, last, at, body: texts.join(BETWEEN), types: namedTypes(types) }
}
