import type { Entry } from '../model/index.ts'
import { typesOf } from './row-types.ts'
import { storageFailed } from './storage-failed.ts'
import type { TableRow } from './tables.ts'

/** Separates entries. JSON text contains no newline, so the separator is unambiguous. */
export const BETWEEN = ',\n'

/** Limits the size of a row, because a read from its middle scans all of it. */
const ROW_ENTRIES = 256
const ROW_CHARS = 256 * 1024

/** The row of a log that is written now. */
export type LogRow = Omit<TableRow<'log'>, 'session' | 'version'>

/** Serialises each entry once; the log and all readers share the text. */
export function toTexts(entries: readonly Entry[]): string[] {
  return entries.map((entry) => {
    try {
      return JSON.stringify(entry)
    } catch (thrown) {
      // Too deep, or longer than the longest string: only this batch fails.
      throw storageFailed(`entry ${entry.seq} of ${entry.session} cannot be written`, thrown)
    }
  })
}

export function toRows(entries: readonly Entry[], texts: readonly string[]): LogRow[] {
  const rows: LogRow[] = []
  for (let from = 0; from < texts.length; ) {
    const to = endOfRow(texts, from)
    const [first, last] = [entries[from], entries[to - 1]]
    // One join: a string built in pieces is flattened piece by piece when it is posted to the thread.
    const body = texts.slice(from, to).join(BETWEEN)
    const types = typesOf(from === 0 && to === entries.length ? entries : entries.slice(from, to))
    if (first && last) rows.push({ first: first.seq, last: last.seq, at: last.at, body, types })
    from = to
  }
  return rows
}

function endOfRow(texts: readonly string[], from: number): number {
  const most = Math.min(texts.length, from + ROW_ENTRIES)
  let to = from + 1
  for (let chars = texts[from]?.length ?? 0; to < most; to++) {
    chars += texts[to]?.length ?? 0
    if (chars >= ROW_CHARS) break
  }
  return to
}
