import type { FileChanged, ToolCompleted, ToolProgressed, ToolStarted } from '../model/events/tool.ts'
import type { DeniedBy, Location, ToolKind } from '../model/index.ts'
import type { Emitted } from './agent.ts'
import { currentId, idAfter, type Ledger, type OpenTool, saidAs } from './ledger.ts'

export function toolIdOf(ledger: Ledger, nativeId: string): string {
  return currentId(ledger.tools, ledger.closedTools, nativeId)
}

/** Is this native call open under its id or under a suffix of it? */
export function openToolId(ledger: Ledger, nativeId: string): string | undefined {
  // As a call begins, most of the time no other one is open.
  if (ledger.tools.isEmpty) return undefined
  if (ledger.tools.has(nativeId)) return nativeId
  const uses = ledger.closedTools.get(nativeId)
  // An id that was never closed has no suffix, and under itself it is not open.
  if (uses === undefined) return undefined
  const id = idAfter(nativeId, uses)
  return ledger.tools.has(id) ? id : undefined
}

/** An event without its type, where what is undefined is not said. */
type Telling<T, Needed extends keyof T> = Pick<T, Needed> & {
  [K in Exclude<keyof T, Needed | 'type'>]?: T[K] | undefined
}

export type ToolStart = Telling<ToolStarted, 'toolId' | 'name' | 'kind'>

export function startTool(ledger: Ledger, tool: ToolStart): Emitted {
  const { toolId: nativeId, name, kind, title, input, locations, messageId, parent } = tool
  const id = toolIdOf(ledger, nativeId)
  const toolId = saidAs(ledger, id)
  const refusedBy = ledger.refusals === undefined ? undefined : takeRefusal(ledger.refusals, id)
  ledger.tools.set(id, { nativeId, toolId, name, kind, parent, input, locations, refusedBy })
  // Field by field: a spread behind other fields costs more than all of this. Those that most calls have are there from
  // the start: what is added to an object takes a place of its own.
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

/** What an open call is may become known late; a request about it tells what is known by then. */
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

/** What an open call does meanwhile; a call that is not open does nothing. */
export function progressTool(
  ledger: Ledger,
  nativeId: string,
  progress: Omit<ToolProgressed, 'type' | 'toolId'>,
): Emitted[] {
  const id = openToolId(ledger, nativeId)
  return id === undefined ? [] : [{ type: 'tool.progressed', toolId: saidAs(ledger, id), ...progress }]
}

/**
 * Remembers who refused a call, for agents that tell it apart from the result; nobody, once it is allowed after all.
 * Some ask before they start it.
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

export type ToolResult = Telling<Omit<ToolCompleted, 'toolId' | 'name' | 'kind' | 'parent'>, 'status'>

/** What a call did to a file. */
export type Change = Omit<FileChanged, 'type' | 'toolId' | 'parent'>

const NO_CHANGES: readonly Change[] = []

/** Closes a call once; a second result for it, or one for a call nobody started, says nothing. */
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

/** Field by field, as everything that is said of calls: see `startTool`. */
function changed(told: Change, toolId: string, parent: string | undefined): FileChanged {
  const { path, change, from, diff, before, after } = told
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
