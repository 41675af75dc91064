import type { Printer } from '../render/printer.ts'
import { cut, widthOf } from '../render/wrap.ts'

/** Our own colours: nothing else that moves a cursor is ever printed. */
const COLOUR = /\x1b\[[0-9;]*m/g

/** Lines below the transcript. */
export interface Footer {
  lines: readonly string[]
  /** Where the cursor is; at the end of the last line by default. */
  caret?: { row: number; column: number }
}

const NO_FOOTER: Footer = { lines: [] }

/** Prints a transcript with a footer below it, which is erased before each print and drawn again after it. */
export class Terminal {
  readonly #printer: Printer
  readonly #columns: () => number
  #footer = NO_FOOTER
  /** The lines that are drawn now, and the one with the cursor. */
  #drawn: { lines: readonly string[]; row: number } | undefined
  /** Where the transcript ends. */
  #column = 0

  constructor(printer: Printer, columns: () => number) {
    this.#printer = printer
    this.#columns = columns
  }

  /** What ends the line that the transcript is in. */
  get lineBreak(): string {
    return this.#column === 0 ? '' : '\n'
  }

  print(text: string): Promise<void> {
    if (text === '') return Promise.resolve()
    const erased = this.#erase()
    this.#advance(text)
    return this.#printer.print(erased + text + this.#draw())
  }

  /** One line as the footer; an empty one removes it. */
  status(text: string): Promise<void> {
    return this.footer(text === '' ? NO_FOOTER : { lines: [text] })
  }

  footer(footer: Footer): Promise<void> {
    this.#footer = footer
    return this.#printer.print(this.#erase() + this.#draw())
  }

  #advance(text: string): void {
    const lines = text.replace(COLOUR, '').split('\n')
    const last = lines.at(-1) ?? ''
    this.#column = widthOf(last) + (lines.length === 1 ? this.#column : 0)
  }

  #erase(): string {
    const drawn = this.#drawn
    if (!drawn) return ''
    this.#drawn = undefined
    // Where the window became narrower, terminals wrap the lines that are above the cursor.
    const columns = this.#columns()
    const above = drawn.lines
      .slice(0, drawn.row)
      .reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / columns)), 0)
    const up = above === 0 ? '' : `\x1b[${above}A`
    const cleared = drawn.lines.length === 1 ? '\r\x1b[2K' : `${up}\r\x1b[J`
    return this.#column === 0 ? cleared : `${cleared}\x1b[1A\x1b[${this.#column + 1}G`
  }

  #draw(): string {
    const { lines, caret } = this.#footer
    const columns = this.#columns()
    // After a full line, the cursor position depends on the terminal.
    if (lines.length === 0 || this.#column >= columns) return ''
    const shown = lines.map((line) => cut(line, columns - 1))
    const row = caret?.row ?? shown.length - 1
    this.#drawn = { lines: shown, row }
    const up = shown.length - 1 - row
    const back = caret ? `${up === 0 ? '' : `\x1b[${up}A`}\x1b[${caret.column + 1}G` : ''
    return `${this.#column === 0 ? '' : '\n'}${shown.join('\n')}${back}`
  }
}
