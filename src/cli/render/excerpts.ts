import { relativePath } from '../../client/calls/describe-call.ts'
import type { FileChanged } from '../../model/events/tool.ts'
import type { TerminalView } from './view.ts'
import type { Style } from './wrap.ts'

const DIFF_LINES = 40

/** How many lines are shown at the beginning and at the end. */
interface ExcerptLines {
  first?: number
  last?: number
}

export function linesOf(text: string): string[] {
  const trimmed = text.trimEnd()
  return trimmed === '' ? [] : trimmed.split('\n')
}

/** Lines behind a gutter, and how many are left out. */
export function excerpt(
  view: TerminalView,
  margin: string,
  lines: readonly string[],
  { first = 0, last = 0 }: ExcerptLines,
  style: Style,
): string[] {
  const { screen, isFull } = view
  if (lines.length === 0) return []
  // One more line takes the same room as the note that it was left out.
  if (isFull || lines.length <= first + last + 1) return [screen.quote(margin, lines, style)]
  return [
    screen.quote(margin, lines.slice(0, first), style),
    screen.quote(margin, [`… ${lines.length - first - last} more lines`], screen.colors.dim),
    screen.quote(margin, last === 0 ? [] : lines.slice(-last), style),
  ]
}

/** A changed file: its name, and its diff in colours. */
export function changedFile(view: TerminalView, margin: string, file: FileChanged): string[] {
  const { screen, cwd } = view
  const counts = countsOf(file)
  const from = file.from === undefined ? '' : `${relativePath(file.from, cwd)} → `
  const name = `${file.change} ${from}${relativePath(file.path, cwd)}${counts === '' ? '' : `  ${counts}`}`
  return [screen.quote(margin, [name], screen.colors.bold), ...diffOf(view, margin, file)]
}

/** The diff in colours. */
export function diffOf(view: TerminalView, margin: string, file: FileChanged): string[] {
  const { colors } = view.screen
  const paint: Style = (line) => {
    if (line.startsWith('+')) return colors.green(line)
    if (line.startsWith('-')) return colors.red(line)
    return colors.dim(line)
  }
  return excerpt(view, margin, changesOf(file), { first: DIFF_LINES }, paint)
}

/** `+3 −2`; empty if the agent reports no lines. */
export function countsOf(...files: readonly FileChanged[]): string {
  const lines = files.flatMap(changesOf)
  if (lines.length === 0) return ''
  const added = lines.filter((line) => line.startsWith('+')).length
  const removed = lines.filter((line) => line.startsWith('-')).length
  return `+${added} −${removed}`
}

/** What changed, without the lines that name the file: the card does. A new file is one change. */
function changesOf({ change, diff, after }: FileChanged): string[] {
  if (diff === undefined) return change === 'created' ? linesOf(after ?? '').map((line) => `+${line}`) : []
  const lines = linesOf(diff)
  const hunk = lines.findIndex((line) => line.startsWith('@@'))
  return lines.slice(Math.max(0, hunk))
}
