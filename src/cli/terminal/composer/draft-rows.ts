import { charactersOf, widthOf } from '../../render/wrap.ts'
import type { Footer } from '../terminal.ts'
import type { Draft } from './draft.ts'

/** Longer drafts show the lines around the caret. */
const MOST_ROWS = 6

/** The lines that show a draft, and the place of the caret in them. `mark` is in front of the first line. */
export function draftRows({ text, caret }: Draft, columns: number, mark: string): Footer {
  const margin = ' '.repeat(widthOf(mark))
  const room = Math.max(2, columns - 1 - margin.length)
  const rows = ['']
  let width = 0
  let place = { row: 0, column: 0 }
  for (const { segment, index } of charactersOf(text)) {
    if (index === caret) place = { row: rows.length - 1, column: width }
    const size = widthOf(segment)
    if (segment === '\n' || width + size > room) {
      rows.push('')
      width = 0
      if (index === caret && segment !== '\n') place = { row: rows.length - 1, column: 0 }
    }
    if (segment === '\n') continue
    rows[rows.length - 1] += segment
    width += size
  }
  if (caret >= text.length) place = { row: rows.length - 1, column: width }
  const first = Math.max(0, Math.min(place.row - MOST_ROWS + 1, rows.length - MOST_ROWS))
  const lines = rows.slice(first, first + MOST_ROWS).map((row, index) => {
    return (index === 0 && first === 0 ? mark : margin) + row
  })
  return { lines, caret: { row: place.row - first, column: margin.length + place.column } }
}
