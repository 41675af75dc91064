/** What a line of Markdown is. */
export type LineKind =
  | { kind: 'blank' | 'rule' | 'table' }
  | { kind: 'fence'; fence: string; indent: string; info: string }
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'quote'; depth: number; text: string }
  | { kind: 'item'; indent: string; marker: string; task: 'done' | 'open' | undefined; text: string }
  | { kind: 'text'; indent: string; text: string }

const FENCE = /^(\s*)(`{3,}|~{3,})\s*([^`]*)$/
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/
const HEADING = /^ {0,3}(#{1,6})\s+(.*)$/
const QUOTE = /^\s*((?:>\s?)+)(.*)$/
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/
const TABLE = /^\s*\|/

/** Beginnings that more characters may turn into something else. */
const UNDECIDED = [
  /^\s*$/,
  /^\s*(?:`{1,2}|~{1,2})$/,
  /^\s*(?:`{3,}|~{3,})[^`]*$/,
  /^ {0,3}#{1,6}\s*$/,
  /^\s*(?:[-*_+]\s*)+$/,
  /^\s*\d{1,9}[.)]?\s*$/,
  /^\s*(?:>\s?)+\s*$/,
  /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[(?:[ xX](?:\]\s*)?)?$/,
  TABLE,
]

/** The kind of a line; undefined while it is incomplete and could be several. */
export function lineKind(line: string, isWhole: boolean): LineKind | undefined {
  if (!isWhole && UNDECIDED.some((beginning) => beginning.test(line))) return undefined
  if (line.trim() === '') return { kind: 'blank' }
  const [, indent = '', fence, info = ''] = FENCE.exec(line) ?? []
  if (fence !== undefined) return { kind: 'fence', fence, indent, info: info.trim() }
  if (RULE.test(line)) return { kind: 'rule' }
  if (TABLE.test(line)) return { kind: 'table' }
  const [, marks, heading = ''] = HEADING.exec(line) ?? []
  if (marks !== undefined) return { kind: 'heading', level: marks.length, text: heading }
  const [, quotes, quoted = ''] = QUOTE.exec(line) ?? []
  if (quotes !== undefined) return { kind: 'quote', depth: quotes.replaceAll(/\s/g, '').length, text: quoted }
  const [, before = '', marker, box, text = ''] = ITEM.exec(line) ?? []
  if (marker !== undefined) {
    const task = box === undefined ? undefined : box === ' ' ? 'open' : 'done'
    return { kind: 'item', indent: before, marker, task, text }
  }
  const [lead = ''] = /^\s*/.exec(line) ?? []
  return { kind: 'text', indent: lead, text: line.slice(lead.length) }
}
