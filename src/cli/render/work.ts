import type { ToolItem } from '../../client/timeline/items.ts'
import { hookText } from '../../client/timeline/notice-texts.ts'
import type { PlanUpdated, SubagentCompleted } from '../../model/events/work.ts'
import type { LinePart } from './screen.ts'
import {
  callOf,
  callOfAgent,
  duration,
  marginOf,
  marginOfCall,
  newCard,
  type TerminalView,
  titleOf,
  turnTo,
  type ViewRules,
} from './view.ts'

/** A key for each item: two items may have the same text. */
function keysOf(items: PlanUpdated['items']): string[] {
  const earlier = new Map<string, number>()
  return items.map(({ text }) => {
    const count = earlier.get(text) ?? 0
    earlier.set(text, count + 1)
    return `${count} ${text}`
  })
}

/** Shows a new plan in full, then only changed items. */
function plan(view: TerminalView, { items, parent }: PlanUpdated): string[] {
  const { screen } = view
  const { colors } = screen
  const known = view.plans.get(parent)
  const keys = keysOf(items)
  const isNew = known?.size !== items.length || keys.some((key) => !known.has(key))
  view.plans.set(parent, new Map(items.map(({ status }, index) => [keys[index] ?? '', status])))
  // The calls that write the plan.
  const around =
    parent === undefined ? view.timeline.items : (callOfAgent(view, parent)?.subagent?.items ?? [])
  for (const item of around)
    if (item.kind === 'tool' && item.toolKind === 'think' && item.status === 'running')
      view.told.add(item.toolId)
  const shown = items.filter(({ status }, index) => isNew || known.get(keys[index] ?? '') !== status)
  if (shown.length === 0) return []
  const margin = marginOf(view, parent)
  const done = items.filter((item) => item.status === 'completed').length
  const title = parent === undefined ? '' : margin
  const out = [
    turnTo(view, parent) || newCard(view),
    screen.line(title, [colors.cyan, '◆ '], [colors.bold, 'Plan'], `  ${done} of ${items.length}`),
  ]
  for (const { text, status } of shown) {
    if (status === 'completed') out.push(screen.line(margin, [colors.green, '✔ '], text))
    else if (status === 'in_progress') out.push(screen.line(margin, [colors.cyan, '▸ '], [colors.bold, text]))
    else out.push(screen.line(margin, [colors.dim, `○ ${text}`]))
  }
  return out
}

function subagentCompleted(view: TerminalView, ended: SubagentCompleted): string[] {
  const { id, status, durationMs } = ended
  const { screen } = view
  const { colors } = screen
  const call = callOfAgent(view, id)
  if (call) view.told.add(call.toolId)
  const took = durationMs === undefined ? '' : ` · ${duration(durationMs)}`
  const paint = status === 'success' ? colors.green : status === 'error' ? colors.red : colors.yellow
  const word = status === 'success' ? 'done' : status === 'error' ? 'failed' : 'cancelled'
  const end: LinePart = [paint, `${word}${took}`]
  const margin = call ? marginOfCall(view, call) : '  '
  const out = [newCard(view)]
  if (!screen.rich) {
    if (ended.summary !== undefined) out.push(screen.block(marginOf(view, id), ended.summary))
    return [...out, screen.line(margin, [colors.dim, '╰ '], end)]
  }
  view.speaker = id
  const label = call?.subagent?.label ?? 'sub-agent'
  out.push(screen.line(margin === '  ' ? '' : margin, [colors.magenta, '◇ '], `${label}  `, end))
  const summary = summaryOf(ended, call)
  return summary === '' ? out : [...out, screen.prose(marginOf(view, id), summary)]
}

/** What a sub-agent reported, unless its last message was that. Some agents report it as the result of the call alone. */
function summaryOf({ summary }: SubagentCompleted, call: ToolItem | undefined): string {
  const text = summary ?? call?.output ?? ''
  const last = call?.subagent?.items.findLast(({ kind }) => kind === 'text')
  return last?.kind === 'text' && last.text.trim() === text.trim() ? '' : text
}

export const workRules = {
  'plan.updated': plan,
  'subagent.started': (view, { id, toolId, label, agentType }) => {
    const call = callOf(view, toolId)
    const { screen } = view
    const { dim, magenta } = screen.colors
    if (!screen.rich && call && titleOf(call, view.cwd) === label) return []
    view.speaker = id
    const kind = screen.rich && agentType !== undefined ? `  ${agentType}` : ''
    const own = screen.rich && call ? marginOfCall(view, call) : marginOf(view, id)
    const margin = own === '  ' ? '' : own
    return [newCard(view), screen.line(margin, [magenta, '◇ '], label, [dim, kind])]
  },
  'subagent.progressed': (view, { id, message }) => {
    if (message === undefined) return []
    return [view.screen.line(marginOf(view, id), [view.screen.colors.dim, message])]
  },
  'subagent.completed': subagentCompleted,
  'hook.started': () => [],
  'hook.completed': ({ screen }, hook) =>
    hook.status === 'success' ? [] : [screen.line('  ', [screen.colors.yellow, hookText(hook)])],
} satisfies Partial<ViewRules>
