import type { Entry } from '../model/index.ts'
import { fitting } from './read-bytes.ts'
import { storageFailed } from './storage-failed.ts'

/** Separates entries. JSON text contains no newline, so the separator is unambiguous. */
export const BETWEEN = ',\n'

/** Limits the size of a row, because a read from its middle scans all of it. */
const ROW_ENTRIES = 256
const ROW_CHARS = 256 * 1024

export interface LogRow {
  first: number
  last: number
  at: number
  text: string
}

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
    const text = texts.slice(from, to).join(BETWEEN)
    if (first && last) rows.push({ first: first.seq, last: last.seq, at: last.at, text })
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

/** Selects entries of a text: those after the first `skip`, within both limits. */
export interface Cut {
  skip: number
  limit: number
  maxBytes: number
}

/** `count` is how many entries the text has. */
export function fromText(text: string, count: number, cut: Cut): Entry[] {
  // A large entry is alone in its row; parse it without another copy.
  if (count === 1) return cut.skip === 0 && cut.limit > 0 ? [JSON.parse(text)] : []
  const isWhole = cut.skip === 0 && cut.limit >= count && text.length <= cut.maxBytes
  return JSON.parse(`[${isWhole ? text : textsIn(text, cut).join(BETWEEN)}]`)
}

/** The same, as texts. */
export function textsIn(text: string, { skip, limit, maxBytes }: Cut): string[] {
  const texts = text.split(BETWEEN)
  const wanted = texts.length <= limit && skip === 0 ? texts : texts.slice(skip, skip + limit)
  if (text.length <= maxBytes) return wanted
  return wanted.slice(
    0,
    fitting(wanted, (one) => one.length, maxBytes),
  )
}
