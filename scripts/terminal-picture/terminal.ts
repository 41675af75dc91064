/** The style of a piece of text: the terminal attributes that the picture shows. */
export interface Look {
  color?: Color
  bold?: boolean
  dim?: boolean
  italic?: boolean
  underline?: boolean
}

export type Color = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan'

export interface Cell {
  text: string
  look: Look
}

/** One state of a line, visible from `from` until `until`, or to the end. */
export interface Version {
  line: number
  cells: readonly Cell[]
  from: number
  until?: number
}

const COLORS: Readonly<Record<number, Color>> = {
  31: 'red',
  32: 'green',
  33: 'yellow',
  34: 'blue',
  35: 'magenta',
  36: 'cyan',
}

/** A control sequence, a control character, or text. */
const TOKEN = /\x1b\[([0-9;?]*)([A-Za-z])|\x1b\][^\x07]*\x07|[\r\n\b]|[^\x1b\r\n\b]+/g

/**
 * A terminal without a screen: every line that was ever written, with the times at which it changed. It knows the
 * sequences that our own output uses; a sequence that it does not know is an error, so that no picture is wrong.
 */
export class Terminal {
  readonly versions: Version[] = []
  #lines: Cell[][] = [[]]
  #row = 0
  #column = 0
  #look: Look = {}
  #changed = new Set<number>()

  /** The number of lines so far. */
  get height(): number {
    return this.#lines.length
  }

  write(output: string, at: number): void {
    for (const [token, parameters = '', final] of output.matchAll(TOKEN)) {
      if (final !== undefined) this.#control(final, parameters)
      else if (token === '\n') this.#down()
      else if (token === '\r') this.#column = 0
      else if (token === '\b') this.#column = Math.max(0, this.#column - 1)
      else if (!token.startsWith('\x1b')) this.#print(token)
    }
    for (const line of this.#changed) this.#keep(line, at)
    this.#changed.clear()
  }

  #print(text: string): void {
    const line = this.#lines[this.#row] ?? []
    for (const character of text) {
      while (line.length < this.#column) line.push({ text: ' ', look: {} })
      line[this.#column++] = { text: character, look: { ...this.#look } }
    }
    this.#changed.add(this.#row)
  }

  #down(): void {
    this.#row++
    if (this.#row === this.#lines.length) this.#lines.push([])
  }

  #control(final: string, parameters: string): void {
    const [count = 0] = parameters.split(';').map(Number)
    switch (final) {
      case 'm':
        for (const code of parameters.split(';').map(Number)) this.#style(code)
        break
      case 'A':
        this.#row = Math.max(0, this.#row - (count || 1))
        break
      case 'B':
        for (let down = count || 1; down > 0; down--) this.#down()
        break
      case 'G':
        this.#column = (count || 1) - 1
        break
      case 'K':
        this.#erase(this.#row, count === 2 ? 0 : this.#column)
        break
      case 'J':
        this.#erase(this.#row, this.#column)
        for (let row = this.#row + 1; row < this.#lines.length; row++) this.#erase(row, 0)
        break
      case 'h':
      case 'l':
        break
      default:
        throw new Error(`The picture cannot show the sequence CSI ${parameters}${final}.`)
    }
  }

  #erase(row: number, from: number): void {
    this.#lines[row]?.splice(from)
    this.#changed.add(row)
  }

  #style(code: number): void {
    const { color, ...rest } = this.#look
    if (code === 0) this.#look = {}
    else if (code === 1) this.#look.bold = true
    else if (code === 2) this.#look.dim = true
    else if (code === 3) this.#look.italic = true
    else if (code === 4) this.#look.underline = true
    else if (code === 24) this.#look = { ...this.#look, underline: false }
    else if (code === 22) this.#look = { ...this.#look, bold: false, dim: false }
    else if (code === 23) this.#look = { ...this.#look, italic: false }
    else if (code === 39) this.#look = rest
    else if (COLORS[code]) this.#look = { ...rest, color: COLORS[code] }
    else throw new Error(`The picture cannot show the style ${code}.`)
  }

  #keep(line: number, at: number): void {
    const last = this.versions.findLast((version) => version.line === line)
    const cells = [...(this.#lines[line] ?? [])]
    // Invisible states: the line changed again at the same moment.
    if (last?.from === at) this.versions.splice(this.versions.indexOf(last), 1)
    else if (last) last.until = at
    this.versions.push({ line, cells, from: at })
  }
}
