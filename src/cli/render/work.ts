import { hookText } from '../../client/timeline/notice-texts.ts'
import type { PlanUpdated } from '../../model/events/work.ts'
import {
  callOf,
  callOfAgent,
  duration,
  marginOf,
  marginOfCall,
  newCard,
  type TerminalView,
  titleOf,
  type ViewRules,
} from './view.ts'

/** Shows a new plan in full, then only changed items. */
function plan(view: TerminalView, { items, parent }: PlanUpdated): string[] {
  const { screen } = view
  const { colors } = screen
  const known = view.plan
  const isNew = items.some((item) => !known.has(item.text)) || known.size !== items.length
  view.plan = new Map(items.map((item) => [item.text, item.status]))
  const shown = items.filter((item) => isNew || known.get(item.text) !== item.status)
  if (shown.length === 0) return []
  const margin = marginOf(view, parent)
  const done = items.filter((item) => item.status === 'completed').length
  const title = parent === undefined ? '' : margin
  const out = [
    newCard(view),
    screen.line(title, [colors.cyan, '◆ '], [colors.bold, 'Plan'], `  ${done} of ${items.length}`),
  ]
  for (const { text, status } of shown) {
    if (status === 'completed') out.push(screen.line(margin, [colors.green, '✔ '], text))
    else if (status === 'in_progress') out.push(screen.line(margin, [colors.cyan, '▸ '], [colors.bold, text]))
    else out.push(screen.line(margin, [colors.dim, `○ ${text}`]))
  }
  return out
}

export const workRules = {
  'plan.updated': plan,
  'subagent.started': (view, { id, toolId, label }) => {
    const call = callOf(view, toolId)
    if (call && titleOf(call) === label) return []
    const { screen } = view
    return [newCard(view), screen.line(marginOf(view, id), [screen.colors.magenta, '◇ '], label)]
  },
  'subagent.progressed': (view, { id, message }) => {
    if (message === undefined) return []
    return [view.screen.line(marginOf(view, id), [view.screen.colors.dim, message])]
  },
  'subagent.completed': (view, { id, status, summary, durationMs }) => {
    const { screen } = view
    const { colors } = screen
    const call = callOfAgent(view, id)
    if (call) view.told.add(call.toolId)
    const took = durationMs === undefined ? '' : ` · ${duration(durationMs)}`
    const paint = status === 'success' ? colors.green : status === 'error' ? colors.red : colors.yellow
    const word = status === 'success' ? 'done' : status === 'error' ? 'failed' : 'cancelled'
    const out = [newCard(view)]
    if (summary !== undefined) out.push(screen.prose(marginOf(view, id), summary))
    out.push(
      screen.line(call ? marginOfCall(view, call) : '  ', [colors.dim, '╰ '], [paint, `${word}${took}`]),
    )
    return out
  },
  'hook.started': () => [],
  'hook.completed': ({ screen }, hook) =>
    hook.status === 'success' ? [] : [screen.line('  ', [screen.colors.yellow, hookText(hook)])],
} satisfies Partial<ViewRules>
