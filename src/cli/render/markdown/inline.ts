/** How a piece of a line looks. */
export interface TextLook {
  bold?: boolean
  italic?: boolean
  code?: boolean
  strike?: boolean
  link?: boolean
  /** The address of a link, beside its text. */
  address?: boolean
}

export interface TextSpan {
  text: string
  look: TextLook
}

interface Scanned {
  spans: TextSpan[]
  /** How much of the text has its final look. The rest depends on what follows. */
  length: number
}

/** How far from its opening mark a closing mark is searched for. It bounds what is held back. */
const FARTHEST = 2_000

const SPECIAL = /[\\*_~`[]/g
const LINK = /\[([^[\]]*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)?)\)/y
const UNFINISHED_LINK = /^\[[^[\]]*(?:\](?:\([^()\s]*(?:\([^()\s]*\)?[^()\s]*)?)?)?$/
const ESCAPABLE = /[!-/:-@[-`{-~]/
const WORD = /[\p{L}\p{N}]/u

/** The mark at a place: what it spans, or that it is text, or that more text has to decide it. */
type Mark = { spans: TextSpan[]; end: number } | 'text' | 'undecided'

/**
 * Splits text into spans of one look: emphasis, code, links. Marks that are never closed stay as text. Unless the text is
 * whole, stops at the first mark that later text may still close. `before` is the character in front of the text.
 */
export function scan(text: string, isWhole: boolean, look: TextLook = {}, before = ''): Scanned {
  const spans: TextSpan[] = []
  let plainFrom = 0
  const flush = (to: number) => {
    if (to > plainFrom) spans.push({ text: text.slice(plainFrom, to), look })
  }
  SPECIAL.lastIndex = 0
  for (let index = next(text, 0); index < text.length; ) {
    const knowsAll = isWhole || text.length > index + FARTHEST
    const mark = markAt(text, index, knowsAll, look, text[index - 1] ?? before)
    if (mark === 'undecided') {
      flush(index)
      return { spans, length: index }
    }
    if (mark === 'text') {
      index = next(text, index + runAt(text, index))
      continue
    }
    flush(index)
    spans.push(...mark.spans)
    plainFrom = mark.end
    index = next(text, mark.end)
  }
  flush(text.length)
  return { spans, length: text.length }
}

function next(text: string, from: number): number {
  SPECIAL.lastIndex = from
  return SPECIAL.exec(text)?.index ?? text.length
}

/** How often the character at a place is repeated. Only marks that consist of several are counted. */
function runAt(text: string, index: number): number {
  const char = text[index]
  if (char === '\\' || char === '[') return 1
  let end = index
  while (text[end] === char) end++
  return end - index
}

function markAt(text: string, index: number, knowsAll: boolean, look: TextLook, before: string): Mark {
  const char = text[index] ?? ''
  if (char === '\\') return escapeAt(text, index, knowsAll, look)
  if (char === '[') return linkAt(text, index, knowsAll, look)
  const run = runAt(text, index)
  if (index + run === text.length && !knowsAll) return 'undecided'
  return char === '`'
    ? codeAt(text, index, run, knowsAll, look)
    : emphasisAt(text, index, run, knowsAll, look, before)
}

function escapeAt(text: string, index: number, knowsAll: boolean, look: TextLook): Mark {
  const escaped = text[index + 1]
  if (escaped === undefined) return knowsAll ? 'text' : 'undecided'
  return ESCAPABLE.test(escaped) ? { spans: [{ text: escaped, look }], end: index + 2 } : 'text'
}

function linkAt(text: string, index: number, knowsAll: boolean, look: TextLook): Mark {
  LINK.lastIndex = index
  const [all, label = '', address = ''] = LINK.exec(text) ?? []
  if (all === undefined || all.length > FARTHEST)
    return !knowsAll && UNFINISHED_LINK.test(text.slice(index)) ? 'undecided' : 'text'
  const shown = scan(label === '' ? address : label, true, { ...look, link: true }).spans
  const isSame = label === '' || label === address
  const target = isSame ? [] : [{ text: ` (${address})`, look: { ...look, address: true } }]
  return { spans: [...shown, ...target], end: index + all.length }
}

function codeAt(text: string, index: number, run: number, knowsAll: boolean, look: TextLook): Mark {
  const from = index + run
  const closing = closingRun(text, from, '`', run, index + FARTHEST)
  if (closing === undefined) return knowsAll ? 'text' : 'undecided'
  // More backticks may follow, which then close nothing.
  if (closing + run === text.length && !knowsAll) return 'undecided'
  const code = text.slice(from, closing)
  const isPadded = code.length > 2 && code.startsWith(' ') && code.endsWith(' ')
  return {
    spans: [{ text: isPadded ? code.slice(1, -1) : code, look: { ...look, code: true } }],
    end: closing + run,
  }
}

/** The place of a run of exactly this length. */
function closingRun(text: string, from: number, char: string, run: number, end: number): number | undefined {
  for (let at = text.indexOf(char, from); at !== -1 && at + run <= end; ) {
    const length = runAt(text, at)
    if (length === run) return at
    at = text.indexOf(char, at + length)
  }
  return undefined
}

const EMPHASIS: Readonly<Record<string, readonly (TextLook | undefined)[]>> = {
  '*': [undefined, { italic: true }, { bold: true }, { bold: true, italic: true }],
  _: [undefined, { italic: true }, { bold: true }, { bold: true, italic: true }],
  '~': [undefined, undefined, { strike: true }],
}

function emphasisAt(
  text: string,
  index: number,
  run: number,
  knowsAll: boolean,
  look: TextLook,
  before: string,
): Mark {
  const char = text[index] ?? ''
  const emphasis = EMPHASIS[char]?.[run]
  const from = index + run
  const after = text[from] ?? ' '
  if (!emphasis || /\s/.test(after) || (char === '_' && WORD.test(before))) return 'text'
  for (let at = from; ; ) {
    const closing = closingRun(text, at, char, run, index + FARTHEST)
    if (closing === undefined) return knowsAll ? 'text' : 'undecided'
    const end = closing + run
    if (end === text.length && !knowsAll) return 'undecided'
    const isClosing = !/[\s\\]/.test(text[closing - 1] ?? ' ')
    const isInWord = char === '_' && WORD.test(text[end] ?? ' ')
    if (isClosing && !isInWord)
      return { spans: scan(text.slice(from, closing), true, { ...look, ...emphasis }).spans, end }
    at = end
  }
}
