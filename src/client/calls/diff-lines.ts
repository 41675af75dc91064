/** A line of a unified diff. */
export interface UnifiedDiffLine {
  /** Which text has it; `hunk` begins a part, and `header` is about the change, such as the names of its files. */
  kind: 'same' | 'added' | 'removed' | 'hunk' | 'header'
  /** The line; without its sign if it has one. */
  text: string
}

const FILE_HEADER = /^(?:diff |index |--- |\+\+\+ |new file|deleted file|similarity|rename )/

/**
 * Every line of a unified diff, for someone who decides about it. Nothing is left out, also of a text that is no valid
 * diff: a line without a sign is one of both texts.
 */
export function unifiedDiffLines(diff: string): UnifiedDiffLine[] {
  let inHunk = false
  return diff
    .replace(/\n$/, '')
    .split('\n')
    .map((line): UnifiedDiffLine => {
      if (line.startsWith('@@')) {
        inHunk = true
        return { kind: 'hunk', text: line }
      }
      // Inside a hunk, it is a line that begins with the same signs.
      if (line.startsWith('\\') || (!inHunk && FILE_HEADER.test(line))) return { kind: 'header', text: line }
      if (line.startsWith('+')) return { kind: 'added', text: line.slice(1) }
      if (line.startsWith('-')) return { kind: 'removed', text: line.slice(1) }
      return { kind: 'same', text: line.startsWith(' ') ? line.slice(1) : line }
    })
}
