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

/** Takes at least one character, so that a narrow terminal cannot cause an endless loop. */
function splitAt(text: string, columns: number): [string, string] {
  let width = 0
  let length = 0
  for (const { segment } of charactersOf(text)) {
    width += widthOf(segment)
    if (width > columns && length > 0) break
    length += segment.length
  }
  return [text.slice(0, length), text.slice(length)]
}

/** The beginning of a long word that a line ends with: a path breaks behind a folder, unless little of the line is left. */
function wholeFolders(text: string): string {
  const end = text.lastIndexOf('/') + 1
  return end * 2 > text.length ? text.slice(0, end) : text
}

/** Changes how a text looks, not its width. */
export type Style = (text: string) => string

interface WordPart {
  text: string
  style: Style
}

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
  /** A word may have several styles. */
  #word: WordPart[] = []
  #started = false

  /** `first` replaces the margin of the first line and has the same width. */
  constructor(columns: number, margin: string, style: Style, first: string) {
    this.#columns = Math.max(1, columns - widthOf(margin))
    this.#margin = margin
    this.#first = first
    this.#style = style
  }

  push(piece: string, style = this.#style): string {
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
        this.#add(token, style)
      }
    }
    return out
  }

  /** The rest, with the newline that ends the last line. */
  end(): string {
    const rest = this.#flush()
    return this.#started ? `${rest}\n` : ''
  }

  #add(text: string, style: Style): void {
    const last = this.#word.at(-1)
    if (last?.style === style) last.text += text
    else this.#word.push({ text, style })
  }

  #flush(): string {
    const word = this.#word
    const [first] = word
    if (!first) return ''
    this.#word = []
    let out = this.#started ? this.#breaks : ''
    if (out !== '') this.#column = 0
    this.#breaks = ''
    this.#started = true
    const width = word.reduce((sum, { text }) => sum + widthOf(text), 0)
    if (this.#column > 0 && this.#column + this.#spaces.length + width > this.#columns) {
      out += '\n'
      this.#column = 0
      this.#spaces = ''
    }
    // Drops an indentation that leaves no space for text.
    const [letter] = splitAt(first.text, 1)
    if (this.#spaces.length + widthOf(letter) > this.#columns) this.#spaces = ''
    for (const part of word) out += this.#putWrapped(part)
    return out
  }

  #putWrapped({ text, style }: WordPart): string {
    let out = ''
    let rest = text
    while (this.#column + this.#spaces.length + widthOf(rest) > this.#columns) {
      const room = this.#columns - this.#column - this.#spaces.length
      const [letter] = splitAt(rest, 1)
      if (this.#column > 0 && widthOf(letter) > room) {
        out += '\n'
        this.#column = 0
        continue
      }
      const head = wholeFolders(splitAt(rest, room)[0])
      out += this.#put(head, style)
      rest = rest.slice(head.length)
      if (rest === '') return out
      out += '\n'
      this.#column = 0
    }
    return out + this.#put(rest, style)
  }

  #put(text: string, style: Style): string {
    const margin = this.#column === 0 ? this.#first : ''
    this.#first = this.#margin
    const spaces = this.#spaces
    this.#spaces = ''
    this.#column += spaces.length + widthOf(text)
    return margin + spaces + style(text)
  }
}

let segmenter: Intl.Segmenter | undefined

/**
 * The characters of a text as people see them: an emoji may consist of several code points. The segmenter is made when
 * it is needed, because it loads the tables of all scripts, which takes as long as a third of a start.
 */
export function charactersOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter()
  return segmenter.segment(text)
}
