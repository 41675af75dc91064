import type { TimelineItem, ToolItem } from './items.ts'
import { add, newTimeline, type Timeline } from './timeline.ts'

/** A timeline for the next turn, with the calls and sub-agents that still run, for views that keep no history. */
export function nextTurn(timeline: Timeline): Timeline {
  const { first, last, facts } = timeline
  const next = { ...newTimeline(), first, last, facts }
  carry(next, timeline.items, undefined)
  return next
}

function carry(next: Timeline, items: readonly TimelineItem[], parent: string | undefined): void {
  for (const item of items) {
    if (item.kind !== 'tool' || !isLive(item)) continue
    const { subagent } = item
    add(next, { ...item, subagent: subagent && { ...subagent, items: [] } }, parent)
    if (!subagent) continue
    next.agents.set(subagent.id, item.key)
    carry(next, subagent.items, subagent.id)
  }
}

function isLive({ status, subagent }: ToolItem): boolean {
  if (status === 'running' || subagent?.status === 'running') return true
  return subagent?.items.some((item) => item.kind === 'tool' && isLive(item)) ?? false
}
