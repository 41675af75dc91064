import type { Printer } from '../render/printer.ts'
import { besideEachOther, columnWidth, type TextColumn } from './columns.ts'

/** More lines than any terminal shows. */
const MOST_LINES = 500
/** Room for the prompt of the shell, and for the line below the columns. */
const RESERVED = 3
const TICK_MS = 100

export interface LiveColumnOptions {
  printer: Printer
  size: () => { columns: number; rows: number }
  /** The current header of each column. */
  heading: (index: number) => readonly string[]
  /** The line below the columns at this moment. */
  footer: () => string
  count: number
}

/** Columns that grow at the end of the terminal, and are drawn again in place. */
export class LiveColumns implements AsyncDisposable {
  readonly #options: LiveColumnOptions
  readonly #texts: string[]
  readonly #ticker: NodeJS.Timeout
  #drawn = 0
  #isHidden = false

  constructor(options: LiveColumnOptions) {
    this.#options = options
    this.#texts = Array<string>(options.count).fill('')
    this.#ticker = setInterval(() => void this.#draw(), TICK_MS).unref()
    // At once: an agent may ask before the first tick, and the columns show who is asked.
    void this.#draw()
  }

  /** Adds rendered text to a column. */
  add(index: number, text: string): void {
    const lines = `${this.#texts[index]}${text}`.split('\n')
    this.#texts[index] = lines.slice(-MOST_LINES).join('\n')
  }

  /** Removes the columns while something else is printed. */
  async hide(): Promise<void> {
    this.#isHidden = true
    const up = this.#drawn
    this.#drawn = 0
    if (up > 0) await this.#options.printer.print(`${upTo(up)}\x1b[0J`)
  }

  show(): void {
    this.#isHidden = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#ticker)
    await this.hide()
  }

  #draw(): Promise<void> {
    const { printer, size, heading, count, footer } = this.#options
    const { columns, rows } = size()
    const width = columnWidth(count, columns)
    // A window that became too narrow shows nothing until it is wider, or until the end.
    if (this.#isHidden || width === undefined) return Promise.resolve()
    const contents = this.#texts.map(
      (text, index): TextColumn => ({ heading: heading(index), lines: linesOf(text) }),
    )
    const height = Math.max(4, rows - RESERVED)
    const tallest = Math.max(...contents.map((column) => column.heading.length + column.lines.length))
    const lines = [...besideEachOther(contents, width, Math.min(height, tallest)), footer()]
    const above = upTo(this.#drawn)
    this.#drawn = lines.length
    return printer.print(`${above}${lines.map((line) => `${line}\x1b[K`).join('\n')}\x1b[0J`)
  }
}

/** Without the empty line behind the last break. */
function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Moves the cursor up to the first of these lines. */
function upTo(lines: number): string {
  return lines > 1 ? `\r\x1b[${lines - 1}A` : '\r'
}
