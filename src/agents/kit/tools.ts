import type { FileChanged, ToolCompleted, ToolProgressed, ToolStarted } from '../../model/events/tool.ts'
import type { DeniedBy, Location, ToolKind } from '../../model/index.ts'
import type { Emitted } from '../agent.ts'
import { compact } from './fields.ts'
import { countUse, currentId, emittedId, idAfter, type Ledger } from './ledger.ts'

export function toolIdOf(ledger: Ledger, nativeId: string): string {
  return currentId(ledger.tools, ledger.closedTools, nativeId)
}

/** Returns the id under which a native call is open, with or without a suffix. */
export function openToolId(ledger: Ledger, nativeId: string): string | undefined {
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
  return compact({ type: 'tool.started', toolId, name, kind, title, input, locations, messageId, parent })
}

/** Updates an open call when its properties become known late; a later request about it uses them. */
export function redefineTool(
  ledger: Ledger,
  nativeId: string,
  { kind, locations, input }: { kind: ToolKind; locations: readonly Location[] | undefined; input: unknown },
): void {
  const tool = ledger.tools.get(toolIdOf(ledger, nativeId))
  if (!tool) return
  tool.kind = kind
  tool.locations = locations
  if (input !== undefined) tool.input = input
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
export type FileChange = Omit<FileChanged, 'type' | 'toolId' | 'parent'>

const NO_CHANGES: readonly FileChange[] = []

/** Closes a call once; a second result, or one for an unknown call, emits nothing. */
export function finishTool(
  ledger: Ledger,
  nativeId: string,
  result: ToolResult,
  changes: readonly FileChange[] = NO_CHANGES,
): Emitted[] {
  const id = toolIdOf(ledger, nativeId)
  const open = ledger.tools.get(id)
  if (!open) return []
  ledger.tools.delete(id)
  countUse(ledger.closedTools, open.nativeId)
  if (result.status === 'denied') {
    ledger.denials++
    if (result.deniedBy === 'person') ledger.personDenials++
  }
  const { toolId, name, kind, parent } = open
  const changed = result.status === 'success' ? changes : NO_CHANGES
  return [
    ...changed.map(
      ({ path, change, ...more }): Emitted =>
        compact({ type: 'file.changed', path, change, toolId, ...more, parent }),
    ),
    compact({ type: 'tool.completed', toolId, name, kind, ...result, parent }),
  ]
}

/** Half a mebibyte of the longest characters is shorter than no part that Codex keeps. */
const SHORTEST_CUT = 262_144

/** Whether Codex, or an adapter around it, left out the middle of an output: it keeps one mebibyte and marks the gap. */
export function hasOmission(output: string | undefined): boolean {
  if (output === undefined || output.length < SHORTEST_CUT) return false
  return /\n\.\.\. \d+ bytes omitted \.\.\.\n/.test(output)
}

/** The kind of change that a diff shows, for agents that do not name it: old lines exist only if the file did. */
export function changeInDiff(diff: string): Pick<FileChange, 'change' | 'changeReported'> {
  if (/^(?:--- a?\/dev\/null|@@ -0,0 )/m.test(diff)) return { change: 'created' }
  if (/^(?:\+\+\+ b?\/dev\/null|@@ -\S+ \+0,0 @@)/m.test(diff)) return { change: 'deleted' }
  if (/^(?:@@ -|[- ])/m.test(diff)) return { change: 'modified' }
  return { change: 'modified', changeReported: false }
}
