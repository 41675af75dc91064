import { compareLines, type DiffLine, type FileDiff, numbered } from './diff.ts'

/** Lines of context around a change, as `git diff` has them. */
const CONTEXT = 3

const NO_NEWLINE = '\n\\ No newline at end of file'

const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', added: '+', removed: '-', hunk: '' }

/**
 * The change of a file as a patch that `git apply` reads; undefined if its content is unknown, or if its path is not below
 * the directory. `nameOf` makes paths relative to the directory.
 */
export function patchOf(file: FileDiff, nameOf: (path: string) => string): string | undefined {
  const to = nameOf(file.path)
  const from = file.change === 'renamed' && file.from !== undefined ? nameOf(file.from) : to
  if (![from, to].every(isBelow)) return undefined
  const hunks = hunksOf(file)
  const isNew = file.change === 'created' && hunks.every((hunk) => /^@@ -\d+,0 /.test(hunk))
  const isGone = file.change === 'deleted' && hunks.every((hunk) => /^@@ -\S+ \+\d+,0 /.test(hunk))
  const isEmpty = (isNew && file.after === '') || (isGone && file.before === '')
  if (hunks.length === 0 && from === to && !isEmpty) return undefined
  return [
    `diff --git ${quoted(`a/${from}`)} ${quoted(`b/${to}`)}`,
    ...(from === to ? [] : [`rename from ${quoted(from)}`, `rename to ${quoted(to)}`]),
    ...(isNew ? ['new file mode 100644'] : []),
    ...(isGone ? ['deleted file mode 100644'] : []),
    ...(hunks.length === 0
      ? []
      : [
          `--- ${isNew ? '/dev/null' : place(`a/${from}`)}`,
          `+++ ${isGone ? '/dev/null' : place(`b/${to}`)}`,
        ]),
    ...hunks,
    '',
  ].join('\n')
}

/** Each hunk with its header, and without a line break at its end. */
function hunksOf({ diff, before, after, change }: FileDiff): string[] {
  if (diff !== undefined) return reportedHunks(diff)
  const isKnown =
    (before !== undefined || change === 'created') && (after !== undefined || change === 'deleted')
  return isKnown ? computedHunks(before ?? '', after ?? '') : []
}

/** The hunks of a reported diff as they are, with the counts that their headers leave out. */
function reportedHunks(diff: string): string[] {
  const hunks: string[][] = []
  for (const line of diff.split('\n')) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (head) {
      const [, before, removed = '1', after, added = '1'] = head
      hunks.push([`@@ -${before},${removed} +${after},${added} @@`])
    } else if (/^[ +\-\\]/.test(line) || line === '') hunks.at(-1)?.push(line)
  }
  const last = hunks.at(-1)
  if (last?.at(-1) === '') last.pop()
  return hunks.map((lines) => lines.join('\n'))
}

function computedHunks(before: string, after: string): string[] {
  const lines = numbered(compareLines(linesOf(before), linesOf(after)))
  const near = new Set<number>()
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue
    for (let at = index - CONTEXT; at <= index + CONTEXT; at++) near.add(at)
  }
  const hunks: DiffLine[][] = []
  for (const [index, line] of lines.entries()) {
    if (!near.has(index)) continue
    if (!near.has(index - 1) || hunks.length === 0) hunks.push([])
    hunks.at(-1)?.push(line)
  }
  return hunks.map((hunk) => {
    const old = hunk.filter(({ kind }) => kind !== 'added')
    const now = hunk.filter(({ kind }) => kind !== 'removed')
    const head = `@@ -${old[0]?.before ?? 0},${old.length} +${now[0]?.after ?? 0},${now.length} @@`
    return [head, ...hunk.map(({ kind, text }) => `${SIGNS[kind]}${text}`)].join('\n')
  })
}

/** The lines of a text. A last line without a line break is another line than the same one with it. */
function linesOf(text: string): string[] {
  const lines = text.split('\n')
  const last = lines.pop()
  return last === undefined || last === '' ? lines : [...lines, last + NO_NEWLINE]
}

const isBelow = (path: string) => path !== '' && !path.startsWith('/') && !path.split('/').includes('..')

/** A path in a heading. The tab ends a name with spaces. */
const place = (path: string) => (path.includes(' ') ? `${quoted(path)}\t` : quoted(path))

const ESCAPES: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
}

/** A path with characters that end a name, as git quotes it. */
function quoted(path: string): string {
  const escaped = path.replace(/[\u0000-\u001f\u007f"\\]/g, (one) => {
    return ESCAPES[one] ?? `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`
  })
  return escaped === path ? path : `"${escaped}"`
}
