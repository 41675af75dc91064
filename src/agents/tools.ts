import type { FileChanged, ToolCompleted, ToolProgressed, ToolStarted } from '../model/events/tool.ts'
import type { DeniedBy, Location, ToolKind } from '../model/index.ts'
import type { Emitted } from './agent.ts'
import { currentId, emittedId, idAfter, type Ledger, type OpenTool } from './ledger.ts'

export function toolIdOf(ledger: Ledger, nativeId: string): string {
  return currentId(ledger.tools, ledger.closedTools, nativeId)
}

/** Returns the id under which a native call is open, with or without a suffix. */
export function openToolId(ledger: Ledger, nativeId: string): string | undefined {
  // Usually no other call is open when a call starts.
  if (ledger.tools.isEmpty) return undefined
  if (ledger.tools.has(nativeId)) return nativeId
  const uses = ledger.closedTools.get(nativeId)
  // An id that was never closed has no suffix, and it is not open without one.
  if (uses === undefined) return undefined
  const id = idAfter(nativeId, uses)
  return ledger.tools.has(id) ? id : undefined
}

/** An event without its type, where undefined fields are dropped. */
type EventFields<T, Needed extends keyof T> = Pick<T, Needed> & {
  [K in Exclude<keyof T, Needed | 'type'>]?: T[K] | undefined
}

export type ToolStart = EventFields<ToolStarted, 'toolId' | 'name' | 'kind'>

export function startTool(ledger: Ledger, tool: ToolStart): Emitted {
  const { toolId: nativeId, name, kind, title, input, locations, messageId, parent } = tool
  const id = toolIdOf(ledger, nativeId)
  const toolId = emittedId(ledger, id)
  const refusedBy = ledger.refusals === undefined ? undefined : takeRefusal(ledger.refusals, id)
  ledger.tools.set(id, { nativeId, toolId, name, kind, parent, input, locations, refusedBy })
  // Built field by field, because a spread after other fields is expensive. Common fields are in the literal, because
  // adding them later is slower.
  const started: ToolStarted =
    title !== undefined && input !== undefined
      ? { type: 'tool.started', toolId, name, kind, title, input }
      : { type: 'tool.started', toolId, name, kind }
  if (title !== undefined) started.title = title
  if (input !== undefined) started.input = input
  if (locations !== undefined) started.locations = locations
  if (messageId !== undefined) started.messageId = messageId
  if (parent !== undefined) started.parent = parent
  return started
}

/** Updates an open call when its properties become known late; a later request about it uses them. */
export function redefineTool(
  ledger: Ledger,
  nativeId: string,
  kind: ToolKind,
  locations: readonly Location[] | undefined,
): void {
  const tool = ledger.tools.get(toolIdOf(ledger, nativeId))
  if (!tool) return
  tool.kind = kind
  tool.locations = locations
}

/** Emits progress of an open call; a closed call emits nothing. */
export function progressTool(
  ledger: Ledger,
  nativeId: string,
  progress: Omit<ToolProgressed, 'type' | 'toolId'>,
): Emitted[] {
  const id = openToolId(ledger, nativeId)
  return id === undefined ? [] : [{ type: 'tool.progressed', toolId: emittedId(ledger, id), ...progress }]
}

/**
 * Records who denied a call, for agents that report it separately from the result; undefined once it is allowed. Some
 * agents request approval before they start the call.
 */
export function refuseTool(ledger: Ledger, nativeId: string, by: DeniedBy | undefined): void {
  const id = toolIdOf(ledger, nativeId)
  const tool = ledger.tools.get(id)
  if (tool) {
    tool.refusedBy = by
  } else if (by === undefined) {
    ledger.refusals?.delete(id)
  } else {
    ledger.refusals ??= new Map()
    ledger.refusals.set(id, by)
  }
}

function takeRefusal(refusals: Map<string, DeniedBy>, id: string): DeniedBy | undefined {
  const by = refusals.get(id)
  refusals.delete(id)
  return by
}

export type ToolResult = EventFields<Omit<ToolCompleted, 'toolId' | 'name' | 'kind' | 'parent'>, 'status'>

/** The file change of a call. */
export type Change = Omit<FileChanged, 'type' | 'toolId' | 'parent'>

const NO_CHANGES: readonly Change[] = []

/** Closes a call once; a second result, or one for an unknown call, emits nothing. */
export function finishTool(
  ledger: Ledger,
  nativeId: string,
  result: ToolResult,
  changes: readonly Change[] = NO_CHANGES,
): Emitted[] {
  const open = ledger.tools.take(nativeId) ?? ledger.tools.take(toolIdOf(ledger, nativeId))
  if (!open) return []
  const { toolId } = open
  ledger.closedTools.add(open.nativeId)
  if (result.status === 'denied') {
    ledger.denials++
    if (result.deniedBy === 'person') ledger.personDenials++
  }
  const end = completed(open, result)
  if (result.status !== 'success' || changes.length === 0) return [end]
  const emitted: Emitted[] = []
  for (const change of changes) emitted.push(changed(change, toolId, open.parent))
  emitted.push(end)
  return emitted
}

/** Built field by field, like `startTool`. */
function changed(fields: Change, toolId: string, parent: string | undefined): FileChanged {
  const { path, change, from, diff, before, after } = fields
  const event: FileChanged = { type: 'file.changed', path, change, toolId }
  if (from !== undefined) event.from = from
  if (diff !== undefined) event.diff = diff
  if (before !== undefined) event.before = before
  if (after !== undefined) event.after = after
  if (parent !== undefined) event.parent = parent
  return event
}

function completed({ toolId, name, kind, parent }: OpenTool, result: ToolResult): ToolCompleted {
  const { status, output, error, exitCode, durationMs, deniedBy, settled, data, truncated, blob } = result
  const event: ToolCompleted =
    output === undefined || exitCode === undefined
      ? { type: 'tool.completed', toolId, name, kind, status }
      : { type: 'tool.completed', toolId, name, kind, status, output, exitCode }
  if (output !== undefined) event.output = output
  if (error !== undefined) event.error = error
  if (exitCode !== undefined) event.exitCode = exitCode
  if (durationMs !== undefined) event.durationMs = durationMs
  if (deniedBy !== undefined) event.deniedBy = deniedBy
  if (settled !== undefined) event.settled = settled
  if (data !== undefined) event.data = data
  if (truncated !== undefined) event.truncated = truncated
  if (blob !== undefined) event.blob = blob
  if (parent !== undefined) event.parent = parent
  return event
}
