import type picocolors from 'picocolors'
import { Markdown } from './markdown/markdown.ts'
import { Printable, printable, printableLine } from './printable.ts'
import { cut, type Style, Wrap, widthOf } from './wrap.ts'

export type Colors = ReturnType<typeof picocolors.createColors>

/** A piece of a line: plain, or with a style. */
export type LinePart = string | readonly [Style, string]

export interface ScreenOptions {
  colors: Colors
  /** The width in columns, read again for each line because windows are resized; unlimited without a terminal. */
  columns?: () => number
  /** The height in rows; unlimited unless a person is asked there. */
  rows?: () => number
  /**
   * Whether to lay out messages as Markdown, and to show a call once, when it has ended. Otherwise messages are printed as
   * they are, and calls also when they start.
   */
  rich?: boolean
}

/** Lays out text that arrives in pieces. */
interface Layout {
  push(piece: string): string
  /** The rest, with the newline that ends the last line. */
  end(): string
}

/** The next text of a message, and the text that was streamed before it. */
interface MessageDelta {
  readonly messageId: string
  readonly shown: string
  readonly text: string
}

/** A message that is being streamed. */
interface Voice {
  readonly messageId: string
  readonly cleaner: Printable
  readonly layout: Layout
}

const plain: Style = (text) => text
const unlimited = () => Number.POSITIVE_INFINITY

/**
 * Tracks the cursor; each method returns the text to print. All output is cleaned here, on its only
 * way to a terminal. Agent output is indented, so that only our markers are in the first column.
 */
export class Screen {
  readonly colors: Colors
  readonly columns: () => number
  readonly rows: () => number
  readonly rich: boolean
  #voice: Voice | undefined
  #blank = true

  constructor(options: ScreenOptions) {
    this.colors = options.colors
    this.columns = options.columns ?? unlimited
    this.rows = options.rows ?? unlimited
    this.rich = options.rich ?? false
  }

  /** Ends a line that is being streamed. */
  break(): string {
    const voice = this.#voice
    if (!voice) return ''
    this.#voice = undefined
    const out = voice.layout.push(voice.cleaner.end()) + voice.layout.end()
    if (out !== '') this.#blank = false
    return out
  }

  /** One empty line, never two. */
  gap(): string {
    const out = this.break()
    if (this.#blank) return out
    this.#blank = true
    return `${out}\n`
  }

  /** One line, truncated to the width. */
  line(margin: string, ...parts: readonly LinePart[]): string {
    let room = this.columns() - widthOf(margin)
    let out = this.break() + margin
    for (const part of parts) {
      if (room <= 0) break
      const [style, text] = typeof part === 'string' ? [plain, part] : part
      const shown = cut(printableLine(text), room)
      room -= widthOf(shown)
      out += style(shown)
    }
    this.#blank = false
    return `${out}\n`
  }

  /** A text of any length in full, wrapped; its first line may have a mark instead of the margin. */
  block(margin: string, text: string, style: Style = plain, mark = margin): string {
    return this.#whole(new Wrap(this.columns(), margin, style, mark), text)
  }

  /** A message in full. */
  prose(margin: string, text: string, style: Style = plain, mark = margin): string {
    return this.#whole(this.#layout(margin, style, mark), text)
  }

  #whole(layout: Layout, text: string): string {
    const before = this.break()
    const out = layout.push(printable(text)) + layout.end()
    if (out !== '') this.#blank = false
    return before + out
  }

  #layout(margin: string, style: Style, first: string): Layout {
    const columns = this.columns()
    if (!this.rich) return new Wrap(columns, margin, style, first)
    return new Markdown({ columns, margin, first, style, colors: this.colors })
  }

  /** Lines behind a gutter, truncated to the width. */
  quote(margin: string, lines: readonly string[], style: Style = plain): string {
    const room = this.columns() - widthOf(margin) - 2
    let out = this.break()
    for (const text of lines) {
      const shown = cut(printableLine(text.replaceAll('\t', '  ')), room)
      out += `${margin}${this.colors.dim('│')}${shown === '' ? '' : ` ${style(shown)}`}\n`
    }
    this.#blank = false
    return out
  }

  /** The next delta of a message. Breaks off another message that was streaming. */
  stream(margin: string, delta: MessageDelta, style: Style = plain, mark = margin): string {
    const { messageId, shown } = delta
    let out = ''
    let piece = delta.text
    if (this.#voice?.messageId !== messageId) {
      // Something was printed in the middle of a line: the space between two words is no indentation.
      if (shown !== '' && !shown.endsWith('\n')) piece = piece.replace(/^[^\S\n]+/, '')
      if (piece === '') return ''
      out += this.gap()
      this.#voice = {
        messageId,
        cleaner: new Printable(),
        layout: this.#layout(margin, style, mark),
      }
    }
    return out + this.#voice.layout.push(this.#voice.cleaner.push(piece))
  }
}
