import { unifiedDiffLines } from 'mainstem/client'

/** The change of a file: as a diff, or by its texts. */
export interface FileDiff {
  path: string
  change: 'created' | 'modified' | 'deleted' | 'renamed'
  from?: string | undefined
  diff?: string | undefined
  before?: string | undefined
  after?: string | undefined
}

export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'hunk'
  text: string
  /** The number of the line in the old text. */
  before?: number
  /** The number of the line in the new text. */
  after?: number
}

/** Lines of context around a change. */
const CONTEXT = 3

/** Above this product of lines a comparison line by line would take too long: the files are shown whole. */
const LARGEST = 4_000_000

/** The lines of a unified diff; without its headers, unless someone decides about it. */
export function parseDiff(diff: string, whole = false): DiffLine[] {
  const lines = unifiedDiffLines(diff).flatMap(({ kind, text }): DiffLine[] => {
    if (kind !== 'header') return [{ kind, text }]
    return whole ? [{ kind: 'hunk', text }] : []
  })
  // Without the header of a hunk, nobody knows where in the file its lines are.
  return lines.some(({ kind, text }) => kind === 'hunk' && text.startsWith('@@')) ? numbered(lines) : lines
}

/** The lines with their numbers. The header of a hunk says where it begins. */
export function numbered(lines: readonly DiffLine[], startsAt = 1): DiffLine[] {
  let [before, after] = [startsAt, startsAt]
  return lines.map((line) => {
    if (line.kind === 'hunk') {
      const [, from, to] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line.text) ?? []
      if (from !== undefined && to !== undefined) [before, after] = [Number(from), Number(to)]
      return line
    }
    return {
      ...line,
      ...(line.kind !== 'added' && { before: before++ }),
      ...(line.kind !== 'removed' && { after: after++ }),
    }
  })
}

/** The difference of two texts by their longest common subsequence of lines, with some context. */
export function diffTexts(before: string, after: string): DiffLine[] {
  return withContext(numbered(compareLines(linesOf(before), linesOf(after))))
}

/**
 * Every line of two texts, also the empty line that a line break at the end leaves. Without the line of the file in which
 * they begin, the lines have no numbers.
 */
export function wholeDiff(
  before: string | undefined,
  after: string | undefined,
  startsAt?: number,
): DiffLine[] {
  const lines = compareLines(before?.split('\n') ?? [], after?.split('\n') ?? [])
  return startsAt === undefined ? lines : numbered(lines, startsAt)
}

/** Both texts line by line, by their longest common subsequence. */
export function compareLines(left: readonly string[], right: readonly string[]): DiffLine[] {
  let start = 0
  while (start < left.length && start < right.length && left[start] === right[start]) start++
  let end = 0
  while (end < left.length - start && end < right.length - start && left.at(-1 - end) === right.at(-1 - end))
    end++
  const changed = compare(left.slice(start, left.length - end), right.slice(start, right.length - end))
  const same = (text: string): DiffLine => ({ kind: 'same', text })
  return [...left.slice(0, start).map(same), ...changed, ...left.slice(left.length - end).map(same)]
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function compare(left: readonly string[], right: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text })
  const added = (text: string): DiffLine => ({ kind: 'added', text })
  if (left.length * right.length > LARGEST) return [...left.map(removed), ...right.map(added)]
  const width = right.length + 1
  const common = new Uint32Array((left.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--)
      common[i * width + j] =
        left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < left.length || j < right.length) {
    const [from, to] = [left[i], right[j]]
    if (from !== undefined && from === to) {
      lines.push({ kind: 'same', text: from })
      i++
      j++
    } else if (to === undefined || (from !== undefined && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(from ?? ''))
      i++
    } else {
      lines.push(added(to))
      j++
    }
  }
  return lines
}

/** Replaces long stretches without a change by a line that counts them. */
function withContext(lines: readonly DiffLine[]): DiffLine[] {
  const near = new Set<number>()
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue
    for (let i = index - CONTEXT; i <= index + CONTEXT; i++) near.add(i)
  }
  const shown: DiffLine[] = []
  let skipped = 0
  for (const [index, line] of lines.entries()) {
    if (!near.has(index)) {
      skipped++
      continue
    }
    if (skipped > 0) shown.push({ kind: 'hunk', text: `${skipped} unchanged lines` })
    skipped = 0
    shown.push(line)
  }
  return shown
}

/** A line of each side, for two columns. */
export interface DiffPair {
  left: DiffLine | undefined
  right: DiffLine | undefined
}

/** The lines in two columns: removed lines beside the added lines that replace them. */
export function pairsOf(lines: readonly DiffLine[]): DiffPair[] {
  const pairs: DiffPair[] = []
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++)
      pairs.push({ left: removed[index], right: added[index] })
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === 'removed') removed.push(line)
    else if (line.kind === 'added') added.push(line)
    else {
      flush()
      pairs.push({ left: line, right: line })
    }
  }
  flush()
  return pairs
}

export function countChanges(lines: readonly DiffLine[]): { added: number; removed: number } {
  let [added, removed] = [0, 0]
  for (const { kind } of lines) {
    if (kind === 'added') added++
    if (kind === 'removed') removed++
  }
  return { added, removed }
}
