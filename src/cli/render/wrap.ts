import stringWidth from 'fast-string-width'

/** How many columns a printable text takes. */
export function widthOf(text: string): number {
  return stringWidth(text)
}

/** The text if it fits, else its beginning and an ellipsis. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  return `${splitAt(text, columns - 1)[0]}…`
}

/** Characters as people see them: an emoji may consist of several code points. */
const characters = new Intl.Segmenter()

/** Takes at least one character, so that a narrow terminal cannot cause an endless loop. */
function splitAt(text: string, columns: number): [string, string] {
  let width = 0
  let length = 0
  for (const { segment } of characters.segment(text)) {
    width += widthOf(segment)
    if (width > columns && length > 0) break
    length += segment.length
  }
  return [text.slice(0, length), text.slice(length)]
}

/** Changes how a text looks, not its width. */
export type Style = (text: string) => string

/**
 * Wraps text that arrives in pieces into lines with a margin. Holds a word until it is complete,
 * and white space until text follows, so that no text starts or ends with empty lines.
 */
export class Wrap {
  readonly #columns: number
  readonly #margin: string
  readonly #style: Style
  #first: string
  #column = 0
  #breaks = ''
  #spaces = ''
  #word = ''
  #started = false

  /** `first` replaces the margin of the first line and has the same width. */
  constructor(columns: number, margin: string, style: Style, first: string) {
    this.#columns = Math.max(1, columns - widthOf(margin))
    this.#margin = margin
    this.#first = first
    this.#style = style
  }

  push(piece: string): string {
    let out = ''
    for (const token of piece.match(/\n|[^\S\n]+|\S+/g) ?? []) {
      if (token === '\n') {
        out += this.#flush()
        this.#breaks += '\n'
        this.#spaces = ''
      } else if (token.trim() === '') {
        out += this.#flush()
        this.#spaces += token.replaceAll('\t', '  ')
      } else {
        this.#word += token
      }
    }
    return out
  }

  /** The rest, with the newline that ends the last line. */
  end(): string {
    const rest = this.#flush()
    return this.#started ? `${rest}\n` : ''
  }

  #flush(): string {
    let word = this.#word
    this.#word = ''
    if (word === '') return ''
    let out = this.#started ? this.#breaks : ''
    if (out !== '') this.#column = 0
    this.#breaks = ''
    this.#started = true
    if (this.#column > 0 && this.#column + this.#spaces.length + widthOf(word) > this.#columns) {
      out += '\n'
      this.#column = 0
      this.#spaces = ''
    }
    // Drops an indentation that leaves no space for text.
    const [first] = splitAt(word, 1)
    if (this.#spaces.length + widthOf(first) > this.#columns) this.#spaces = ''
    while (this.#column + this.#spaces.length + widthOf(word) > this.#columns) {
      const [head, tail] = splitAt(word, this.#columns - this.#column - this.#spaces.length)
      out += `${this.#put(head)}\n`
      this.#column = 0
      word = tail
    }
    return word === '' ? out : out + this.#put(word)
  }

  #put(word: string): string {
    const margin = this.#column === 0 ? this.#first : ''
    this.#first = this.#margin
    const text = this.#spaces + word
    this.#spaces = ''
    this.#column += widthOf(text)
    return margin + this.#style(text)
  }
}
