import type { Printer } from '../render/printer.ts'
import { cut, widthOf } from '../render/wrap.ts'

/** Our own colours: nothing else that moves a cursor is ever printed. */
const COLOUR = /\x1b\[[0-9;]*m/g

const ERASE_LINE = '\r\x1b[2K'

/** Prints a transcript with one status line below it, which is erased before each print and drawn again after it. */
export class Terminal {
  readonly #printer: Printer
  readonly #columns: () => number
  #status = ''
  #isDrawn = false
  /** Where the transcript ends. */
  #column = 0

  constructor(printer: Printer, columns: () => number) {
    this.#printer = printer
    this.#columns = columns
  }

  print(text: string): Promise<void> {
    if (text === '') return Promise.resolve()
    const erased = this.#erase()
    this.#advance(text)
    return this.#printer.print(erased + text + this.#draw())
  }

  /** Sets the status line; an empty one removes it. */
  status(text: string): Promise<void> {
    this.#status = text
    return this.#printer.print(this.#erase() + this.#draw())
  }

  #advance(text: string): void {
    const lines = text.replace(COLOUR, '').split('\n')
    const last = lines.at(-1) ?? ''
    this.#column = widthOf(last) + (lines.length === 1 ? this.#column : 0)
  }

  #erase(): string {
    if (!this.#isDrawn) return ''
    this.#isDrawn = false
    return this.#column === 0 ? ERASE_LINE : `${ERASE_LINE}\x1b[1A\x1b[${this.#column + 1}G`
  }

  #draw(): string {
    // After a full line, the cursor position depends on the terminal.
    if (this.#status === '' || this.#column >= this.#columns()) return ''
    this.#isDrawn = true
    const line = cut(this.#status, this.#columns() - 1)
    return this.#column === 0 ? line : `\n${line}`
  }
}
