import type { Entry } from '../../model/index.ts'
import type { EventOf, ToolItem } from './items.ts'
import { add, baseOf, find, newTool, replace, type Timeline, toolKey } from './timeline.ts'

type ToolEvent = EventOf<
  'tool.input.delta' | 'tool.started' | 'tool.updated' | 'tool.progressed' | 'tool.completed'
>

/** Folds what happens to a tool call into its item. */
export function applyTool(timeline: Timeline, entry: Entry, event: ToolEvent): void {
  const tool = toolOf(timeline, entry, event)
  const waitsFor = deciderOf(timeline, event.toolId)
  replace(timeline, { ...tool, ...changeOf(tool, entry, event), waitsFor })
}

/** Who decides the open request about a call. It may precede the start of its call. */
function deciderOf({ requests }: Timeline, toolId: string): ToolItem['waitsFor'] {
  const open = [...requests.values()].find(
    ({ request, resolved, withdrawn }) => request.toolId === toolId && !resolved && !withdrawn,
  )
  return open && (open.request.answeredBy ?? 'person')
}

/** Marks the call of a request that opened or closed. Its clock starts when nothing holds it up any more. */
export function markWaiting(timeline: Timeline, { at }: Entry, toolId: string | undefined): void {
  const tool = toolId === undefined ? undefined : find(timeline, toolKey(toolId), 'tool')
  if (!tool) return
  const waitsFor = deciderOf(timeline, tool.toolId)
  replace(timeline, { ...tool, waitsFor, runningSince: waitsFor ? tool.runningSince : at })
}

function changeOf(tool: ToolItem, { at }: Entry, event: ToolEvent): Partial<ToolItem> {
  switch (event.type) {
    case 'tool.input.delta':
      return { draft: tool.draft + event.delta }
    case 'tool.started':
      return {
        status: 'running',
        name: event.name,
        toolKind: event.kind,
        title: event.title,
        input: event.input,
        draft: '',
        at,
        runningSince: at,
      }
    case 'tool.updated':
      return {
        ...(event.title !== undefined && { title: event.title }),
        ...(event.kind !== undefined && { toolKind: event.kind }),
        ...(event.input !== undefined && { input: event.input }),
      }
    case 'tool.progressed':
      return {
        output: tool.output + (event.output ?? ''),
        message: event.message ?? tool.message,
        progress: event.progress ?? tool.progress,
      }
    case 'tool.completed':
      return {
        status: event.status,
        name: event.name,
        toolKind: event.kind,
        draft: '',
        output: event.output ?? tool.output,
        exitCode: event.exitCode,
        durationMs: event.durationMs,
        error: event.error,
        deniedBy: event.deniedBy,
        blob: event.blob,
        endedAt: at,
      }
    default:
      return event satisfies never
  }
}

function toolOf(
  timeline: Timeline,
  entry: Entry,
  event: { toolId: string; name?: string; type: string; parent?: string | undefined },
): ToolItem {
  const found = find(timeline, toolKey(event.toolId), 'tool')
  if (found) return found
  const tool = newTool(event.toolId, event.name ?? 'tool', entry)
  const item: ToolItem = event.type === 'tool.input.delta' ? { ...tool, status: 'draft' } : tool
  add(timeline, item, event.parent)
  return item
}

/** A change belongs to the call that made it, where the agent names one. */
export function changeFile(timeline: Timeline, entry: Entry, file: EventOf<'file.changed'>): void {
  const tool = file.toolId === undefined ? undefined : find(timeline, toolKey(file.toolId), 'tool')
  if (tool) replace(timeline, { ...tool, files: [...tool.files, file] })
  else add(timeline, { ...baseOf(`file:${entry.seq}`, entry), kind: 'file', file }, file.parent)
}
