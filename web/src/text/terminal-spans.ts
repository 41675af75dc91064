import { SEQUENCE } from './output-lines.ts'

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

/** How a terminal writes at one moment. What a line begins goes on in the next ones. */
export interface Pen {
  /** `red`, `bright-red`; undefined for the colour of other text. */
  colour: string | undefined
  bold: boolean
  underline: boolean
}

export const newPen = (): Pen => ({ colour: undefined, bold: false, underline: false })

/** A part of a text that is written in one way. */
export interface TerminalSpan {
  text: string
  /** Its classes in the style sheet; empty for other text. */
  classes: string
}

/** The parts of a text, without the sequences between them, which change the pen. */
export function spansOf(text: string, pen: Pen): TerminalSpan[] {
  const spans: TerminalSpan[] = []
  const add = (part: string) => {
    if (part !== '') spans.push({ text: part, classes: classesOf(pen) })
  }
  let from = 0
  for (const { 0: sequence, index } of text.matchAll(SEQUENCE)) {
    add(text.slice(from, index))
    from = index + sequence.length
    const [, codes] = /^\u001b\[([\d;]*)m$/.exec(sequence) ?? []
    if (codes !== undefined) change(pen, codes.split(';').map(Number))
  }
  add(text.slice(from))
  return spans
}

function classesOf({ colour, bold, underline }: Pen): string {
  return [colour && `ansi-${colour}-fg`, bold && 'ansi-bold', underline && 'ansi-underline']
    .filter(Boolean)
    .join(' ')
}

/** Applies the codes of one sequence, such as `1;31`. Backgrounds are left out: they would fight the theme. */
function change(pen: Pen, codes: readonly number[]): void {
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    if (code === 38 || code === 48) {
      const isIndexed = codes[at + 1] === 5
      if (code === 38) pen.colour = isIndexed ? indexed(codes[at + 2] ?? 16) : undefined
      at += isIndexed ? 2 : 4
    } else if (code === 0) Object.assign(pen, newPen())
    else if (code === 1 || code === 22) pen.bold = code === 1
    else if (code === 4 || code === 24) pen.underline = code === 4
    else if (code === 39) pen.colour = undefined
    else if (code >= 30 && code <= 37) pen.colour = indexed(code - 30)
    else if (code >= 90 && code <= 97) pen.colour = indexed(code - 82)
  }
}

/** One of the 16 colours that a theme has. */
function indexed(index: number): string | undefined {
  const name = COLOURS[index % 8]
  return index < 8 ? name : index < 16 ? `bright-${name}` : undefined
}
