import type { PlanUpdated } from '../model/events/work.ts'
import { duration, marginOf, newCard, type View, type ViewRules } from './view.ts'

/** Shows a new plan in full, then only changed items. */
function plan(view: View, { items, parent }: PlanUpdated): string[] {
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
  'subagent.started': (view, { id, toolId, label, parent }) => {
    const above = parent === undefined ? 0 : (view.subagents.get(parent)?.depth ?? 0)
    view.subagents.set(id, { depth: above + 1, toolId, parent })
    const title = toolId === undefined ? undefined : view.tools.get(toolId)?.title
    if (title === label) return []
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
    const subagent = view.subagents.get(id)
    if (subagent?.toolId !== undefined) view.told.add(subagent.toolId)
    const took = durationMs === undefined ? '' : ` · ${duration(durationMs)}`
    const paint = status === 'success' ? colors.green : status === 'error' ? colors.red : colors.yellow
    const word = status === 'success' ? 'done' : status === 'error' ? 'failed' : 'cancelled'
    const out = [newCard(view)]
    if (summary !== undefined) out.push(screen.block(marginOf(view, id), summary))
    out.push(screen.line(marginOf(view, subagent?.parent), [colors.dim, '╰ '], [paint, `${word}${took}`]))
    return out
  },
  'hook.started': () => [],
  'hook.completed': (view, { name, status, output }) => {
    if (status === 'success') return []
    const { colors } = view.screen
    const said = output === undefined ? '' : `: ${output}`
    return [view.screen.line('  ', [colors.yellow, `hook ${name} ${status}${said}`])]
  },
} satisfies Partial<ViewRules>
