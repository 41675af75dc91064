import { cut, widthOf } from '../render/wrap.ts'

/** One column of the terminal: a heading that stays, and the end of what was printed below it. */
export interface TextColumn {
  heading: readonly string[]
  lines: readonly string[]
}

/** Narrower columns cannot be read. */
const NARROWEST = 24
const BETWEEN = ' │ '

/** Our own colours; the renderer has removed every other sequence. */
const COLOUR = /\x1b\[[0-9;]*m/g

/** The width of each column; undefined if they do not fit side by side. */
export function columnWidth(count: number, columns: number): number | undefined {
  const width = Math.floor((columns - BETWEEN.length * (count - 1)) / count)
  return width < NARROWEST ? undefined : width
}

/** The lines of the screen: each column cut and padded to the width, and cut from above to the height. */
export function besideEachOther(columns: readonly TextColumn[], width: number, height: number): string[] {
  const blocks = columns.map(({ heading, lines }) => {
    const room = Math.max(0, height - heading.length)
    const shown = lines.slice(Math.max(0, lines.length - room))
    return [...heading, ...shown, ...Array<string>(room - shown.length).fill('')]
  })
  return Array.from({ length: height }, (_, row) =>
    blocks
      .map((block) => fitted(block[row] ?? '', width))
      .join(BETWEEN)
      .trimEnd(),
  )
}

function fitted(line: string, width: number): string {
  const plain = line.replace(COLOUR, '')
  const missing = width - widthOf(plain)
  return missing >= 0 ? line + ' '.repeat(missing) : cut(plain, width)
}
