import type { FileChanged, ToolCompleted } from '../../model/events/tool.ts'
import type { ToolKind } from '../../model/index.ts'
import { changedFile, excerpt, linesOf } from './excerpts.ts'
import type { LinePart } from './screen.ts'
import { settled } from './settled-call.ts'
import { callOf, duration, marginOf, newCard, type TerminalView, titleOf, type ViewRules } from './view.ts'

/** Reads and searches are shown shorter than changes. */
const SHORT_KINDS: ReadonlySet<ToolKind> = new Set(['read', 'search', 'fetch', 'think'])
const SHORT_LINES = 4
const LONG_LINES = 12

function header(view: TerminalView, margin: string, name: string, title: string): string {
  const { colors } = view.screen
  // On the main thread the marker is in the first column, where agent output never appears.
  const mark = margin === '  ' ? '' : margin
  return view.screen.line(mark, [colors.cyan, '● '], [colors.bold, name], title === '' ? '' : `  ${title}`)
}

export function verdict(view: TerminalView, tool: ToolCompleted): LinePart {
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
  return tool ? gap + header(view, marginOf(view, parent), tool.name, titleOf(tool, view.cwd)) : gap
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
  out.push(...excerpt(view, margin, linesOf(output), { first: most }, screen.colors.dim))
  out.push(screen.line(margin, [screen.colors.dim, '╰ '], verdict(view, tool)))
  return out
}

function changed(view: TerminalView, file: FileChanged): string[] {
  // Shown when the call ends.
  if (view.screen.rich && callOf(view, file.toolId)?.status === 'running') return []
  const out = [reopen(view, file.toolId, file.parent)]
  const margin = marginOf(view, file.parent)
  return [...out, ...changedFile(view, margin, file)]
}

export const toolRules = {
  'tool.started': (view, { toolId, parent }) => (view.screen.rich ? [] : [reopen(view, toolId, parent)]),
  'tool.updated': () => [],
  'tool.progressed': () => [],
  'tool.completed': (view, tool) => (view.screen.rich ? settled(view, tool) : completed(view, tool)),
  'file.changed': changed,
} satisfies Partial<ViewRules>
