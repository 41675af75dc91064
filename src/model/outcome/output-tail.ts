const LINES = 20
const LINE_CHARS = 500

/** Terminal escape sequences: CSI, OSC, and two-character ones. */
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[^[\]])?/g
const CONTROLS = /[^\P{Cc}\t]/gu

/** Keeps the last lines of a process to explain a failure; bounded, without control characters. */
export class OutputTail {
  readonly #lines: string[] = []

  add(line: string): void {
    const clean = line.replace(ESCAPES, '').replace(CONTROLS, '').trimEnd()
    if (clean === '') return
    if (this.#lines.length === LINES) this.#lines.shift()
    this.#lines.push(shorten(clean))
  }

  clear(): void {
    this.#lines.length = 0
  }

  get text(): string {
    return this.#lines.join('\n')
  }
}

/** Cuts between words only, because the first half of a secret would not be masked. */
function shorten(line: string): string {
  if (line.length <= LINE_CHARS) return line
  const end = line.slice(0, LINE_CHARS + 1).search(/\s\S*$/)
  const left = `[${line.length - Math.max(end, 0)} more characters]`
  return end <= 0 ? left : `${line.slice(0, end)} ${left}`
}
