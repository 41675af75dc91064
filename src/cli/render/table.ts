import { printableLine } from './printable.ts'
import type { Screen } from './screen.ts'
import type { Style } from './wrap.ts'
import { cut, widthOf } from './wrap.ts'

/** Longer cells are cut; only those of the last column may fill the terminal. */
export const WIDEST_CELL = 40

const plain: Style = (text) => text

export interface TextTable {
  headings: readonly string[]
  rows: readonly (readonly string[])[]
  /** The style of a cell. */
  styleOf?: (row: readonly string[], column: number) => Style | undefined
}

/** Lines of cells, each column as wide as its widest cell. */
export function renderTable(screen: Screen, { headings, rows, styleOf }: TextTable): string {
  const last = headings.length - 1
  const cells = rows.map((row) =>
    row.map((cell, column) =>
      column === last ? printableLine(cell) : cut(printableLine(cell), WIDEST_CELL),
    ),
  )
  const widths = headings.map((_, column) =>
    Math.max(...[headings, ...cells].map((row) => widthOf(row[column] ?? ''))),
  )
  const line = (row: readonly string[], style: (column: number) => Style) =>
    screen.line(
      '',
      ...row.map((cell, column) => {
        const room = column === last ? 0 : (widths[column] ?? 0) + 2 - widthOf(cell)
        return [style(column), cell + ' '.repeat(room)] as const
      }),
    )
  return [
    line(headings, () => screen.colors.dim),
    ...cells.map((row) => line(row, (column) => styleOf?.(row, column) ?? plain)),
  ].join('')
}
