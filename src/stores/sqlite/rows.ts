import { entryJson } from '../../model/entry-json.ts'
import type { Entry } from '../../model/index.ts'
import { storageFailed } from './storage-failed.ts'

/** What stands between two entries. No JSON text holds a newline, so it is found again. */
export const BETWEEN = ',\n'

/** A reader that begins in the middle of a row has to look at all of it, so a row has an end. */
const ROW_ENTRIES = 256
const ROW_CHARS = 256 * 1024

export interface LogRow {
  first: number
  last: number
  at: number
  text: string
}

/** Each entry is written as JSON once, here. */
export function toRows(entries: readonly Entry[]): LogRow[] {
  const rows: LogRow[] = []
  let row: LogRow | undefined
  for (const entry of entries) {
    const text = toJson(entry)
    if (row && row.last - row.first + 1 < ROW_ENTRIES && row.text.length + text.length < ROW_CHARS) {
      row.text += BETWEEN + text
      row.last = entry.seq
      row.at = entry.at
    } else {
      row = { first: entry.seq, last: entry.seq, at: entry.at, text }
      rows.push(row)
    }
  }
  return rows
}

/** Too deep, or longer than any string may be: the entry is at fault, not the disk, and only its batch fails. */
function toJson(entry: Entry): string {
  try {
    return entryJson(entry)
  } catch (thrown) {
    throw storageFailed(`entry ${entry.seq} of ${entry.session} cannot be written`, thrown)
  }
}

/** So many entries are in the text; those after the first `skip` are wanted, and no more than `limit`. */
export function fromText(text: string, count: number, skip: number, limit: number): Entry[] {
  const isWhole = skip === 0 && limit >= count
  const wanted = isWhole
    ? text
    : text
        .split(BETWEEN)
        .slice(skip, skip + limit)
        .join(BETWEEN)
  return JSON.parse(`[${wanted}]`)
}
