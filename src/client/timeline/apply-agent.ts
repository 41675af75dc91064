import type { Entry } from '../../model/index.ts'
import type { EventOf, Subagent, ToolItem } from './items.ts'
import { add, find, newTool, replace, type Timeline, toolKey } from './timeline.ts'

type SubagentEvent = EventOf<'subagent.started' | 'subagent.progressed' | 'subagent.completed'>

/** Folds the life of a sub-agent into the tool call that started it. */
export function applyAgent(timeline: Timeline, entry: Entry, event: SubagentEvent): void {
  const tool = holderOf(timeline, entry, event)
  const subagent: Subagent = tool.subagent ?? {
    id: event.id,
    label: tool.title ?? tool.name,
    model: undefined,
    background: false,
    status: 'running',
    message: undefined,
    summary: undefined,
    items: [],
  }
  replace(timeline, { ...tool, subagent: { ...subagent, ...changeOf(event) } })
}

function changeOf(event: SubagentEvent): Partial<Subagent> {
  switch (event.type) {
    case 'subagent.started':
      return { label: event.label, model: event.model, background: event.background ?? false }
    case 'subagent.progressed':
      return { message: event.message }
    case 'subagent.completed':
      return { status: event.status, summary: event.summary }
    default:
      return event satisfies never
  }
}

/** The item that shows a sub-agent: its tool call, or a separate item if there is none. */
function holderOf(timeline: Timeline, entry: Entry, event: SubagentEvent): ToolItem {
  const called =
    event.type === 'subagent.started' && event.toolId !== undefined ? toolKey(event.toolId) : undefined
  const key = timeline.agents.get(event.id) ?? called
  const found = key === undefined ? undefined : find(timeline, key, 'tool')
  if (found) {
    timeline.agents.set(event.id, found.key)
    return found
  }
  const tool: ToolItem = { ...newTool(`agent ${event.id}`, 'sub-agent', entry), toolKind: 'task' }
  timeline.agents.set(event.id, tool.key)
  add(timeline, tool, event.type === 'subagent.started' ? event.parent : undefined)
  return tool
}
