import type { FileChanged, ToolCompleted } from '../../model/events/tool.ts'
import type { ToolKind } from '../../model/index.ts'
import type { LinePart } from './screen.ts'
import { callOf, duration, marginOf, newCard, type TerminalView, titleOf, type ViewRules } from './view.ts'
import type { Style } from './wrap.ts'

/** Reads and searches are shown shorter than changes. */
const SHORT_KINDS: ReadonlySet<ToolKind> = new Set(['read', 'search', 'fetch', 'think'])
const SHORT_LINES = 4
const LONG_LINES = 12
const DIFF_LINES = 40

function header(view: TerminalView, margin: string, name: string, title: string): string {
  const { colors } = view.screen
  // On the main thread the marker is in the first column, where agent output never appears.
  const mark = margin === '  ' ? '' : margin
  return view.screen.line(mark, [colors.cyan, '● '], [colors.bold, name], title === '' ? '' : `  ${title}`)
}

function linesOf(text: string): string[] {
  const trimmed = text.trimEnd()
  return trimmed === '' ? [] : trimmed.split('\n')
}

/** What changed, without the lines that name the file: the card does. A new file is one change. */
function changesOf({ change, diff, after }: FileChanged): string[] {
  if (diff === undefined) return change === 'created' ? linesOf(after ?? '').map((line) => `+${line}`) : []
  const lines = linesOf(diff)
  const hunk = lines.findIndex((line) => line.startsWith('@@'))
  return lines.slice(Math.max(0, hunk))
}

/** The first lines, and how many are left out. */
function excerpt(
  view: TerminalView,
  margin: string,
  lines: readonly string[],
  most: number,
  style: Style,
): string[] {
  const { screen } = view
  if (lines.length === 0) return []
  // One more line takes the same room as the note that it was left out.
  if (lines.length <= most + 1) return [screen.quote(margin, lines, style)]
  return [
    screen.quote(margin, lines.slice(0, most), style),
    screen.quote(margin, [`… ${lines.length - most} more lines`], screen.colors.dim),
  ]
}

function verdict(view: TerminalView, tool: ToolCompleted): LinePart {
  const { colors } = view.screen
  const took = tool.durationMs === undefined ? '' : ` · ${duration(tool.durationMs)}`
  const exit = tool.exitCode === undefined ? undefined : `exit ${tool.exitCode}`
  switch (tool.status) {
    case 'success':
      return [colors.green, `${exit ?? 'done'}${took}`]
    case 'error':
      return [colors.red, `${exit ?? 'failed'}${took}${tool.error === undefined ? '' : ` · ${tool.error}`}`]
    case 'denied':
      return [colors.yellow, tool.deniedBy === undefined ? 'denied' : `denied by ${DENIED_BY[tool.deniedBy]}`]
    case 'cancelled':
      return [colors.yellow, 'cancelled']
    case 'unknown':
      return [colors.dim, 'no result']
    default:
      return tool.status satisfies never
  }
}

const DENIED_BY = { person: 'a person', policy: 'the policy', hook: 'a hook', agent: 'the agent' }

/** The card of a call, opened again when something else was printed since it was first shown. */
function reopen(view: TerminalView, toolId: string | undefined, parent: string | undefined): string {
  if (toolId === undefined || view.openCard === toolId) return ''
  const tool = callOf(view, toolId)
  const gap = newCard(view)
  view.openCard = toolId
  return tool ? gap + header(view, marginOf(view, parent), tool.name, titleOf(tool)) : gap
}

function completed(view: TerminalView, tool: ToolCompleted): string[] {
  const { screen } = view
  const told = view.told.delete(tool.toolId)
  const margin = marginOf(view, tool.parent)
  if (told && tool.status === 'success') return []
  const out = [reopen(view, tool.toolId, tool.parent)]
  view.openCard = undefined
  const call = callOf(view, tool.toolId)
  // A change that was shown says more than the output.
  const isChange = call !== undefined && call.files.length > 0 && tool.status === 'success'
  const output = isChange ? '' : (call?.output ?? '')
  const most = SHORT_KINDS.has(tool.kind) ? SHORT_LINES : LONG_LINES
  out.push(...excerpt(view, margin, linesOf(output), most, screen.colors.dim))
  out.push(screen.line(margin, [screen.colors.dim, '╰ '], verdict(view, tool)))
  return out
}

function changed(view: TerminalView, file: FileChanged): string[] {
  const { screen } = view
  const { colors } = screen
  const out = [reopen(view, file.toolId, file.parent)]
  const margin = marginOf(view, file.parent)
  const lines = changesOf(file)
  const added = lines.filter((line) => line.startsWith('+')).length
  const removed = lines.filter((line) => line.startsWith('-')).length
  const counts = lines.length === 0 ? '' : `  +${added} −${removed}`
  const from = file.from === undefined ? '' : `${file.from} → `
  out.push(screen.quote(margin, [`${file.change} ${from}${file.path}${counts}`], colors.bold))
  const paint: Style = (line) => {
    if (line.startsWith('+')) return colors.green(line)
    if (line.startsWith('-')) return colors.red(line)
    return colors.dim(line)
  }
  out.push(...excerpt(view, margin, lines, DIFF_LINES, paint))
  return out
}

export const toolRules = {
  'tool.started': (view, { toolId, parent }) => [reopen(view, toolId, parent)],
  'tool.updated': () => [],
  'tool.progressed': () => [],
  'tool.completed': completed,
  'file.changed': changed,
} satisfies Partial<ViewRules>
