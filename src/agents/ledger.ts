import type { RequestOpened } from '../model/events/request.ts'
import type { FileChanged, ToolCompleted, ToolProgressed, ToolStarted } from '../model/events/tool.ts'
import type { SubagentCompleted, SubagentStarted } from '../model/events/work.ts'
import type { DeniedBy, Location, ToolKind } from '../model/index.ts'
import type { Said } from './agent.ts'
import { IdCounts } from './id-counts.ts'
import { OpenItems } from './open-items.ts'

interface OpenMessage {
  nativeId: string
  kind: 'text' | 'thinking'
  text: string
  parent: string | undefined
}

export interface OpenTool {
  nativeId: string
  /** As it is said. */
  toolId: string
  name: string
  kind: ToolKind
  parent: string | undefined
  input: unknown
  locations: readonly Location[] | undefined
  /** Somebody said no; the agent may or may not report it. */
  refusedBy: DeniedBy | undefined
}

/** What an agent has begun and not yet ended. Every codec keeps one, so that settlement is the same for all. */
export interface Ledger {
  /** Stands before every id that is said: those of some agents begin again with each process. */
  readonly prefix: string
  readonly messages: OpenItems<OpenMessage>
  readonly tools: OpenItems<OpenTool>
  readonly requests: Map<string, { toolId: string | undefined; parent: string | undefined }>
  readonly subagents: Map<string, { background: boolean; parent: string | undefined }>
  /** How often a message or tool of this id was closed; an id that returns gets a suffix. */
  readonly closedMessages: IdCounts
  readonly closedTools: IdCounts
  /** Who refused calls that have not begun: a request may come before its call. None at most times. */
  refusals: Map<string, DeniedBy> | undefined
  denials: number
  personDenials: number
}

export function newLedger(prefix = ''): Ledger {
  return {
    prefix,
    messages: new OpenItems(),
    tools: new OpenItems(),
    requests: new Map(),
    subagents: new Map(),
    closedMessages: new IdCounts(),
    closedTools: new IdCounts(),
    refusals: undefined,
    denials: 0,
    personDenials: 0,
  }
}

/** The id under which a native id is known now: one that returns after it was closed gets `~2`, `~3`. */
function currentId(open: OpenItems<unknown>, closed: IdCounts, id: string): string {
  return open.has(id) ? id : idAfter(id, closed.get(id))
}

/** Put together only here: an id with its prefix is a string more, which nobody has to look up. */
function saidAs({ prefix }: Ledger, id: string): string {
  return prefix === '' ? id : prefix + id
}

function idAfter(id: string, uses: number | undefined): string {
  return uses === undefined ? id : `${id}~${uses + 1}`
}

/** An increment of a message; remembered, so that a cut message can still be completed. */
export function addDelta(
  ledger: Ledger,
  kind: 'text' | 'thinking',
  nativeId: string,
  text: string,
  parent?: string,
): Said {
  let id = nativeId
  let open = ledger.messages.get(nativeId)
  if (!open) {
    // Only the first piece of a message needs more than one look.
    id = currentId(ledger.messages, ledger.closedMessages, nativeId)
    open = ledger.messages.get(id)
  }
  if (open) open.text += text
  else ledger.messages.set(id, { nativeId, kind, text, parent })
  const type = kind === 'text' ? 'text.delta' : 'thinking.delta'
  const messageId = saidAs(ledger, id)
  return parent === undefined ? { type, messageId, text } : { type, messageId, text, parent }
}

interface MessageDetails {
  parent?: string | undefined
  partial?: boolean
  phase?: 'commentary' | 'final' | undefined
}

const NO_DETAILS: MessageDetails = {}

/** The whole message, whether or not deltas came before it. */
export function completeMessage(
  ledger: Ledger,
  kind: 'text' | 'thinking',
  nativeId: string,
  text: string,
  more: MessageDetails = NO_DETAILS,
): Said {
  const uses = ledger.closedMessages.add(nativeId)
  const id = ledger.messages.has(nativeId) ? nativeId : idAfter(nativeId, uses)
  ledger.messages.delete(id)
  const messageId = saidAs(ledger, id)
  const type = kind === 'text' ? 'text.completed' : 'thinking.completed'
  const { partial, phase, parent } = more
  // Most have none of them, and spreading nothing costs more than all the rest.
  if (!partial && !phase && parent === undefined) return { type, messageId, text }
  return {
    type,
    messageId,
    text,
    ...(partial && { partial: true }),
    ...(phase && { phase }),
    ...(parent !== undefined && { parent }),
  }
}

/** Closes an open message with what was heard of it, for agents that never say "end of message". */
export function closeMessage(ledger: Ledger, nativeId: string, partial = false): Said[] {
  const open = ledger.messages.get(currentId(ledger.messages, ledger.closedMessages, nativeId))
  if (!open) return []
  return [completeMessage(ledger, open.kind, open.nativeId, open.text, { parent: open.parent, partial })]
}

/** Drops a half message that the agent is going to repeat. Nothing when nothing of it was shown. */
export function discardMessage(
  ledger: Ledger,
  nativeId: string,
  reason: 'stream_broken' | 'refused' = 'stream_broken',
): Said[] {
  const id = currentId(ledger.messages, ledger.closedMessages, nativeId)
  if (!ledger.messages.delete(id)) return []
  ledger.closedMessages.add(nativeId)
  return [{ type: 'message.discarded', messageId: saidAs(ledger, id), reason }]
}

/** Drops a half message of which the draft of a call may be all that was shown. */
export function discardDraft(ledger: Ledger, nativeId: string): Said[] {
  const dropped = discardMessage(ledger, nativeId)
  if (dropped.length > 0) return dropped
  ledger.closedMessages.add(nativeId)
  return [{ type: 'message.discarded', messageId: saidAs(ledger, nativeId), reason: 'stream_broken' }]
}

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

export function startTool(ledger: Ledger, tool: ToolStart): Said {
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
): Said[] {
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
): Said[] {
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
  const said: Said[] = []
  for (const change of changes) said.push(changed(change, toolId, open.parent))
  said.push(end)
  return said
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

/** What the call is that it asks about is known from the call, where that has begun. */
export function openRequest(ledger: Ledger, request: Omit<RequestOpened, 'type' | 'inputDigest'>): Said {
  const { requestId, toolId, parent } = request
  ledger.requests.set(requestId, { toolId, parent })
  const tool = toolId === undefined ? undefined : ledger.tools.get(toolIdOf(ledger, toolId))
  return {
    type: 'request.opened',
    ...(tool && { toolKind: tool.kind }),
    ...(tool?.locations && { locations: [...tool.locations] }),
    ...request,
  }
}

/** The request was answered, by us. */
export function closeRequest(ledger: Ledger, requestId: string): boolean {
  return ledger.requests.delete(requestId)
}

export function withdrawRequest(
  ledger: Ledger,
  requestId: string,
  reason: 'interrupted' | 'agent' | 'turn_ended' | 'process_ended',
): Said[] {
  return ledger.requests.delete(requestId) ? [{ type: 'request.withdrawn', requestId, reason }] : []
}

export function startSubagent(ledger: Ledger, subagent: Omit<SubagentStarted, 'type'>): Said[] {
  if (ledger.subagents.has(subagent.id)) return []
  ledger.subagents.set(subagent.id, { background: subagent.background ?? false, parent: subagent.parent })
  return [{ type: 'subagent.started', ...subagent }]
}

export function finishSubagent(
  ledger: Ledger,
  id: string,
  end: Omit<SubagentCompleted, 'type' | 'id'>,
): Said[] {
  return ledger.subagents.delete(id) ? [{ type: 'subagent.completed', id, ...end }] : []
}
