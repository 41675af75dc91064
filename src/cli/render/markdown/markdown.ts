import type { Colors } from '../screen.ts'
import { type Style, Wrap, widthOf } from '../wrap.ts'
import { type CodeState, type CodeToken, highlight } from './highlight.ts'
import { scan, type TextLook } from './inline.ts'
import { type LineKind, lineKind } from './line-kind.ts'
import { renderMarkdownTable } from './table.ts'

export interface MarkdownOptions {
  columns: number
  margin: string
  /** Replaces the margin of the first line and has the same width. */
  first: string
  colors: Colors
  /** The style of all of the text. */
  style: Style
}

interface Fence {
  marks: string
  indent: string
  language: string
  code: CodeState
}

/** A line whose kind is known, and which is printed while it arrives. */
interface OpenLine {
  wrap: Wrap
  /** The part of its text that later text may still change. */
  held: string
  look: TextLook
  /** The character before `held`. */
  before: string
}

const plain: Style = (text) => text

/**
 * Lays out Markdown that arrives in pieces, line by line: a line is printed as soon as its kind is known, a word as soon
 * as no mark in front of it is open. Nothing that was printed changes, so it needs no terminal that can move its cursor.
 * Only a table waits for its last row. In pieces or whole, the output is the same.
 */
export class Markdown {
  readonly #options: MarkdownOptions
  readonly #isColored: boolean
  readonly #styles = new Map<string, Style>()
  #first: string
  /** The beginning of a line whose kind is unknown. */
  #line = ''
  #open: OpenLine | undefined
  #fence: Fence | undefined
  #table: string[] = []
  #hasOutput = false
  #isBlankDue = false

  constructor(options: MarkdownOptions) {
    this.#options = options
    this.#isColored = options.colors.isColorSupported
    this.#first = options.first
  }

  push(piece: string): string {
    const [head = '', ...lines] = piece.split('\n')
    let out = this.#text(head)
    for (const line of lines) out += this.#endLine() + this.#text(line)
    return out
  }

  /** The rest, with the newline that ends the last line. */
  end(): string {
    const out = this.#endLine() + this.#endTable()
    this.#isBlankDue = false
    return out
  }

  #text(piece: string): string {
    if (piece === '') return ''
    if (this.#open) return this.#inline(this.#open, piece, false)
    this.#line += piece
    if (this.#fence) return ''
    const kind = lineKind(this.#line, false)
    if (!kind || kind.kind === 'fence' || kind.kind === 'table') return ''
    this.#line = ''
    return this.#endTable() + this.#begin(kind)
  }

  #endLine(): string {
    const open = this.#open
    if (open) {
      this.#open = undefined
      return this.#inline(open, '', true) + open.wrap.end()
    }
    const line = this.#line
    this.#line = ''
    if (this.#fence) return this.#codeLine(line, this.#fence)
    const kind = lineKind(line, true)
    if (!kind) return ''
    if (kind.kind === 'table') {
      this.#table.push(line)
      return ''
    }
    const before = this.#endTable()
    if (kind.kind === 'blank') {
      this.#isBlankDue = this.#hasOutput
      return before
    }
    const out = before + this.#begin(kind)
    return this.#open ? out + this.#endLine() : out
  }

  /** Begins a line; one that holds all of its text is finished at once. */
  #begin(kind: LineKind): string {
    const { colors, style } = this.#options
    switch (kind.kind) {
      case 'blank':
      case 'table':
        return ''
      case 'rule':
        return this.#whole(`${'─'.repeat(Math.min(this.#room(), 24))}`, colors.dim)
      case 'fence':
        return this.#openFence(kind)
      case 'heading': {
        const mark = this.#isColored ? '' : `${'#'.repeat(kind.level)} `
        this.#isBlankDue = this.#hasOutput
        return this.#beginLine('', mark, mark, kind.text, { bold: true })
      }
      case 'quote': {
        const bar = '│ '.repeat(kind.depth)
        return this.#beginLine('', style(colors.dim(bar)), colors.dim(bar), kind.text, {})
      }
      case 'item': {
        const { indent, marker, task, text } = kind
        const sign = /\d/.test(marker) ? marker : '•'
        const box = task === undefined ? '' : task === 'done' ? '✔ ' : '○ '
        const lead = task === undefined ? `${sign} ` : box
        return this.#beginLine(indent, style(colors.cyan(lead)), ' '.repeat(widthOf(lead)), text, {})
      }
      case 'text':
        return this.#beginLine(kind.indent, '', '', kind.text, {})
      default:
        return kind satisfies never
    }
  }

  /** `mark` is printed in front of the text, and `hang` in front of the lines that it is wrapped into. */
  #beginLine(indent: string, mark: string, hang: string, text: string, look: TextLook): string {
    const { columns, margin, style } = this.#options
    const width = Number.isFinite(columns) ? Math.floor(this.#room() / 2) : indent.length
    const inner = indent.replaceAll('\t', '  ').slice(0, Math.max(0, width))
    const before = this.#gap()
    const wrap = new Wrap(columns, margin + inner + hang, style, this.#margin() + inner + mark)
    this.#open = { wrap, held: '', look, before: '' }
    return before + this.#inline(this.#open, text, false)
  }

  #inline(open: OpenLine, piece: string, isWhole: boolean): string {
    const text = open.held + piece
    const { spans, length } = scan(text, isWhole, open.look, open.before)
    open.held = text.slice(length)
    open.before = text[length - 1] ?? open.before
    return spans.map((span) => open.wrap.push(this.#marked(span), this.#styleOf(span.look))).join('')
  }

  /** Without colours, code keeps its marks: it would read like other words. */
  #marked({ text, look }: { text: string; look: TextLook }): string {
    return look.code && !this.#isColored ? `\`${text}\`` : text
  }

  #openFence({ fence, indent, info }: Extract<LineKind, { kind: 'fence' }>): string {
    this.#fence = {
      marks: fence,
      indent,
      language: info.split(/\s/, 1)[0]?.toLowerCase() ?? '',
      code: { commentEnd: undefined },
    }
    this.#isBlankDue = this.#hasOutput
    if (!this.#isColored) return this.#whole(fence + info, plain)
    // The label is a part of what the agent wrote.
    return info === ''
      ? ''
      : this.#block(`${indent.slice(0, this.#room() / 2)}  `, info, this.#options.colors.dim)
  }

  #codeLine(line: string, { marks, indent, language, code }: Fence): string {
    const trimmed = line.trim()
    if (trimmed.startsWith(marks) && trimmed === (marks[0] ?? '').repeat(trimmed.length)) {
      this.#fence = undefined
      const out = this.#isColored ? '' : this.#whole(marks, plain)
      this.#isBlankDue = true
      return out
    }
    const { columns, margin, style } = this.#options
    const inner = `${indent.slice(0, Math.max(0, this.#room() / 2))}  `
    const text = line.startsWith(indent) ? line.slice(indent.length) : line.trimStart()
    if (text.trim() === '') {
      this.#isBlankDue = true
      return ''
    }
    const before = this.#gap()
    const indented = /^\s*/.exec(text)?.[0].replaceAll('\t', '  ') ?? ''
    const lead = inner + indented.slice(0, Math.max(0, this.#room() / 2))
    const wrap = new Wrap(columns, `${margin}${lead}  `, style, `${this.#margin()}${lead}`)
    const pieces = highlight(text.trimStart(), language, code)
    return (
      before +
      pieces.map((piece) => wrap.push(piece.text, this.#codeStyle(piece.token))).join('') +
      wrap.end()
    )
  }

  #endTable(): string {
    const lines = this.#table
    if (lines.length === 0) return ''
    this.#table = []
    const { columns, colors } = this.#options
    // A mark of the message, such as that of thinking, needs a line of its own.
    const before = this.#gap() + (this.#first === this.#options.margin ? '' : `${this.#margin().trimEnd()}\n`)
    const layout = {
      margin: this.#options.margin,
      columns,
      styleOf: (look: TextLook) => this.#styleOf(look),
      border: colors.dim,
    }
    return before + renderMarkdownTable(lines, layout)
  }

  #block(indent: string, text: string, style: Style): string {
    const { columns, margin } = this.#options
    const before = this.#gap()
    const wrap = new Wrap(columns, margin + indent, style, this.#margin() + indent)
    return before + wrap.push(text) + wrap.end()
  }

  #whole(text: string, style: Style): string {
    return `${this.#gap()}${this.#margin()}${style(text)}\n`
  }

  /** The empty line that is due, and never at the beginning. */
  #gap(): string {
    const out = this.#isBlankDue ? '\n' : ''
    this.#isBlankDue = false
    this.#hasOutput = true
    return out
  }

  #margin(): string {
    const margin = this.#first
    this.#first = this.#options.margin
    return margin
  }

  #room(): number {
    return Math.max(1, this.#options.columns - widthOf(this.#options.margin))
  }

  /** One style for each look, so that the pieces of a word with one look stay together. */
  #styleOf(look: TextLook): Style {
    const key = Object.keys(look).sort().join()
    const known = this.#styles.get(key)
    if (known) return known
    const { colors, style } = this.#options
    const styles: Style[] = [
      ...(look.code ? [colors.cyan] : []),
      ...(look.bold ? [colors.bold] : []),
      ...(look.italic ? [colors.italic] : []),
      ...(look.strike ? [colors.strikethrough] : []),
      ...(look.link ? [colors.underline] : []),
      ...(look.address ? [colors.dim] : []),
    ]
    const made: Style = (text) => style(styles.reduce((shown, paint) => paint(shown), text))
    this.#styles.set(key, made)
    return made
  }

  #codeStyle(token: CodeToken): Style {
    const { colors } = this.#options
    const paints: Record<CodeToken, Style> = {
      comment: colors.dim,
      string: colors.green,
      keyword: colors.magenta,
      number: colors.yellow,
      added: colors.green,
      removed: colors.red,
      plain,
    }
    return paints[token]
  }
}
