import { type Style, Wrap, widthOf } from '../wrap.ts'
import { scan, type TextLook, type TextSpan } from './inline.ts'

type Align = 'left' | 'center' | 'right'

interface TableLayout {
  margin: string
  /** The columns of the terminal. */
  columns: number
  styleOf(look: TextLook): Style
  border: Style
}

/** Below this width of a column, a table is shown as a list of records. */
const NARROWEST = 8

const GAP = 3

/** A table to the width of the terminal; as records, if its columns would get too narrow. Cells are wrapped, never cut. */
export function renderMarkdownTable(lines: readonly string[], layout: TableLayout): string {
  const [head = [], second, ...rest] = lines.map(cellsOf)
  const ruler = second?.length && second.every((cell) => /^:?-+:?$/.test(cell)) ? second : undefined
  const body = ruler || !second ? rest : [second, ...rest]
  const aligns = ruler?.map(alignOf) ?? []
  const count = Math.max(head.length, ...body.map((row) => row.length))
  const scanned = [head, ...body].map((row) =>
    Array.from({ length: count }, (_, column) => scan(row[column] ?? '', true).spans),
  )
  const widths = fitted(scanned, count, layout.columns - widthOf(layout.margin) - GAP * (count - 1))
  if (!widths) return records(scanned, layout)
  const [header = [], ...others] = scanned
  const bold = header.map((cell) => cell.map((span) => ({ ...span, look: { ...span.look, bold: true } })))
  const rule = widths.map((width) => '─'.repeat(width)).join('─┼─')
  return [
    rowOf(bold, widths, aligns, layout),
    `${layout.margin}${layout.border(rule)}\n`,
    ...others.map((row) => rowOf(row, widths, aligns, layout)),
  ].join('')
}

/** The cells of a row. A pipe inside of code or after a backslash does not end a cell. */
function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '')
  const cells: string[] = []
  let cell = ''
  for (const [part] of inner.matchAll(/\\[\s\S]|`[^`]*`|[\s\S]/gu)) {
    if (part !== '|') cell += part === '\\|' ? '|' : part
    else {
      cells.push(cell)
      cell = ''
    }
  }
  if (cell.trim() !== '') cells.push(cell)
  return cells.map((text) => text.replaceAll(/<br\s*\/?>/g, ' ').trim())
}

function alignOf(rule: string): Align {
  if (!rule.endsWith(':')) return 'left'
  return rule.startsWith(':') ? 'center' : 'right'
}

const widthOfCell = (spans: readonly TextSpan[]) => spans.reduce((sum, { text }) => sum + widthOf(text), 0)

/** Column widths whose sum fits: the widest columns give way. Undefined if they would get too narrow. */
function fitted(rows: readonly TextSpan[][][], count: number, room: number): number[] | undefined {
  const natural = Array.from({ length: count }, (_, column) =>
    Math.max(1, ...rows.map((row) => widthOfCell(row[column] ?? []))),
  )
  const total = (widest: number) => natural.reduce((sum, width) => sum + Math.min(width, widest), 0)
  let widest = Math.max(...natural)
  if (!Number.isFinite(room)) return natural
  while (widest > NARROWEST && total(widest) > room) widest--
  return total(widest) > room ? undefined : natural.map((width) => Math.min(width, widest))
}

function rowOf(
  row: readonly TextSpan[][],
  widths: readonly number[],
  aligns: readonly Align[],
  { margin, styleOf, border }: TableLayout,
): string {
  const cells = row.map((spans, column) => wrapped(spans, widths[column] ?? 1, styleOf))
  const height = Math.max(1, ...cells.map((lines) => lines.length))
  let out = ''
  for (let line = 0; line < height; line++) {
    const texts = cells.map((lines, column) =>
      padded(lines[line] ?? '', widths[column] ?? 1, aligns[column] ?? 'left'),
    )
    out += `${(margin + texts.join(border(' │ '))).trimEnd()}\n`
  }
  return out
}

function padded(text: string, width: number, align: Align): string {
  const room = Math.max(0, width - widthOf(text))
  const left = align === 'right' ? room : align === 'center' ? Math.floor(room / 2) : 0
  return ' '.repeat(left) + text + ' '.repeat(room - left)
}

function wrapped(spans: readonly TextSpan[], width: number, styleOf: TableLayout['styleOf']): string[] {
  const wrap = new Wrap(width, '', (text) => text, '')
  const out = spans.map(({ text, look }) => wrap.push(text, styleOf(look))).join('') + wrap.end()
  return out === '' ? [] : out.replace(/\n$/, '').split('\n')
}

/** Each row as lines of `heading: value`. */
function records([head = [], ...rows]: readonly TextSpan[][][], layout: TableLayout): string {
  const { margin, columns, styleOf, border } = layout
  const shown = rows.length === 0 ? [head] : rows
  return shown
    .map((row, index) => {
      const fields = row.map((cell, column) => {
        const wrap = new Wrap(columns, `${margin}  `, (text) => text, margin)
        const name = rows.length === 0 ? [] : (head[column] ?? [])
        const spans = [
          ...name.map((span) => ({ ...span, look: { ...span.look, bold: true } })),
          ...(name.length === 0 ? [] : [{ text: ': ', look: {} }]),
          ...cell,
        ]
        return spans.map(({ text, look }) => wrap.push(text, styleOf(look))).join('') + wrap.end()
      })
      return (index === 0 ? '' : `${margin}${border('─'.repeat(3))}\n`) + fields.join('')
    })
    .join('')
}
