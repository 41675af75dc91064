import type { ToolItem } from '../../client/timeline/items.ts'
import type { ToolCompleted } from '../../model/events/tool.ts'
import type { ToolKind } from '../../model/index.ts'
import { changedFile, countsOf, diffOf, excerpt, linesOf } from './excerpts.ts'
import type { LinePart } from './screen.ts'
import { verdict } from './tools.ts'
import { callOf, duration, marginOf, newCard, type TerminalView, titleOf, turnTo } from './view.ts'
import { cut, widthOf } from './wrap.ts'

/** Their output is for the model. Its size is enough for a person. */
const QUIET_KINDS: ReadonlySet<ToolKind> = new Set(['read', 'search', 'fetch', 'think'])

/** Durations below this are noise. */
const NOTEWORTHY_MS = 1_000

/** The narrowest title that says something. */
const SHORTEST_TITLE = 12

/** A call that has ended, on one line with its result and its time; below it what changed, or the end of its output. */
export function settled(view: TerminalView, tool: ToolCompleted): string[] {
  const call = callOf(view, tool.toolId)
  if (!call) return []
  if (tool.status !== 'error' && hasOtherLine(view, call)) return []
  const speaker = turnTo(view, tool.parent)
  const before = view.endsWithCall ? view.screen.break() : newCard(view)
  const margin = marginOf(view, tool.parent)
  const out = [speaker, speaker === '' ? before : '', headline(view, margin, call, tool)]
  out.push(...changes(view, margin, call), ...output(view, margin, call, tool))
  view.endsWithCall = true
  return out
}

/** A sub-agent, a plan, an answered question and an approved plan are shown as what they are. */
function hasOtherLine(view: TerminalView, { toolId, subagent }: ToolItem): boolean {
  if (view.told.delete(toolId) || subagent) return true
  return [...view.timeline.requests.values()].some(
    ({ request }) => request.toolId === toolId && (request.kind === 'question' || request.kind === 'plan'),
  )
}

function headline(view: TerminalView, margin: string, call: ToolItem, tool: ToolCompleted): string {
  const { screen } = view
  const { colors } = screen
  const isBad = tool.status === 'error'
  const result = resultOf(view, call, tool)
  const mark: LinePart = isBad ? [colors.red, '✖ '] : [colors.cyan, '● ']
  // On the main thread the marker is in the first column, where agent output never appears.
  const lead = margin === '  ' ? '' : margin
  const room = screen.columns() - widthOf(lead) - 4 - widthOf(call.name) - 2 - widthOf(result[1])
  const title = cut(titleOf(call, view.cwd).replaceAll(/\s+/g, ' '), Math.max(SHORTEST_TITLE, room))
  return screen.line(lead, mark, [colors.bold, call.name], title === '' ? '' : `  ${title}`, [
    result[0],
    `  ${result[1]}`,
  ])
}

type Result = Exclude<LinePart, string>

/** What the call brought: lines read, lines changed, an exit code; and how long it took, if that was long. */
function resultOf(view: TerminalView, call: ToolItem, tool: ToolCompleted): Result {
  const { colors } = view.screen
  if (tool.status !== 'success') {
    const said = verdict(view, { ...tool, error: undefined })
    return typeof said === 'string' ? [colors.dim, said] : said
  }
  const measured = call.endedAt === undefined ? 0 : call.endedAt - call.runningSince
  const took = tool.durationMs ?? (measured < NOTEWORTHY_MS ? undefined : measured)
  const words = [successOf(call, tool), ...(took === undefined ? [] : [duration(took)])]
  return [colors.dim, words.join(' · ')]
}

function successOf(call: ToolItem, { exitCode }: ToolCompleted): string {
  const counts = countsOf(...call.files)
  if (counts !== '') return counts
  if (exitCode !== undefined) return `exit ${exitCode}`
  const { length } = linesOf(call.output)
  if (!QUIET_KINDS.has(call.toolKind) || length === 0) return 'done'
  return `${length} ${length === 1 ? 'line' : 'lines'}`
}

function changes(view: TerminalView, margin: string, { toolId, files }: ToolItem): string[] {
  const [only, another] = files
  if (!only || view.shownChanges.has(toolId)) return []
  return another ? files.flatMap((file) => changedFile(view, margin, file)) : diffOf(view, margin, only)
}

function output(view: TerminalView, margin: string, call: ToolItem, tool: ToolCompleted): string[] {
  const { dim, red } = view.screen.colors
  const lines = linesOf(call.output)
  if (tool.status === 'error') {
    const why = tool.error !== undefined && !call.output.includes(tool.error) ? linesOf(tool.error) : []
    return [
      ...excerpt(view, margin, lines, { first: 3, last: 9 }, dim),
      ...excerpt(view, margin, why, { first: 3 }, red),
    ]
  }
  // A change that was shown says more than the output.
  if (tool.status !== 'success' || call.files.length > 0) return []
  if (view.isFull) return excerpt(view, margin, lines, {}, dim)
  if (QUIET_KINDS.has(call.toolKind)) return []
  return excerpt(view, margin, lines, call.toolKind === 'execute' ? { last: 4 } : { first: 4 }, dim)
}
