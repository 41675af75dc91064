import { widthOf } from '../../../src/cli/render/wrap.ts'

/** A sequence with parameters, one without, a line break, or a character. */
const PIECE =
  /\x1b\[([?<>=]?)([\d;]*)([@-~])|\x1b[\]P^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_a-z78=>]|[\s\S]/gu

/** Output without its sequences. */
export const plain = (output: string): string => output.replace(/\x1b\[[?\d;]*[A-Za-z]/g, '')

/** What a person sees in a terminal of this width: a small emulator, with everything that was scrolled away. */
export class ScreenText {
  #columns: number
  #lines: string[][] = [[]]
  #row = 0
  #column = 0

  constructor(columns: number) {
    this.#columns = columns
  }

  resize(columns: number): void {
    this.#columns = columns
  }

  write(output: string): void {
    for (const [piece, mark = '', numbers = '', letter] of output.matchAll(PIECE)) {
      if (letter !== undefined) {
        if (mark === '') this.#move(letter, Number(numbers.split(';')[0] || Number.NaN))
      } else if (!piece.startsWith('\x1b')) this.#put(piece)
    }
  }

  get text(): string {
    return this.#lines.map((cells) => cells.join('').trimEnd()).join('\n')
  }

  #put(char: string): void {
    if (char === '\r') this.#column = 0
    else if (char === '\b') this.#column = Math.max(0, this.#column - 1)
    else if (char === '\n') this.#down(1)
    else if (char >= ' ') {
      const width = widthOf(char)
      if (this.#column + width > this.#columns) {
        this.#column = 0
        this.#down(1)
      }
      const line = this.#line
      while (line.length < this.#column) line.push(' ')
      line[this.#column] = char
      if (width === 2) line[this.#column + 1] = ''
      this.#column += width
    }
  }

  #move(letter: string, given: number): void {
    const count = given || 1
    if (letter === 'A') this.#row = Math.max(0, this.#row - count)
    else if (letter === 'B') this.#down(count)
    else if (letter === 'C') this.#column = Math.min(this.#columns - 1, this.#column + count)
    else if (letter === 'D') this.#column = Math.max(0, this.#column - count)
    else if (letter === 'G') this.#column = count - 1
    else if (letter === 'K') this.#erase(given)
    else if (letter === 'J') {
      this.#erase(given)
      this.#lines.length = this.#row + 1
    }
  }

  /** To the end of the line, or all of it. */
  #erase(given: number): void {
    this.#line.length = given === 2 ? 0 : Math.min(this.#line.length, this.#column)
  }

  #down(rows: number): void {
    this.#row += rows
    while (this.#lines.length <= this.#row) this.#lines.push([])
  }

  get #line(): string[] {
    const line = this.#lines[this.#row]
    if (!line) throw new Error('the cursor is outside of the screen')
    return line
  }
}
