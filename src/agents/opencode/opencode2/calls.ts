import type { Emitted } from '../../agent.ts'
import { compact, type Fields, fields, flag, objects, text } from '../../kit/fields.ts'
import { finishTool, progressTool, startTool } from '../../kit/tools.ts'
import { announce } from '../threads.ts'
import type { KnownCall, OpencodeState } from './state.ts'
import { adoptChild, type Thread } from './thread.ts'
import { changesOf, failedResult, isDeclined, kindOf, locationsOf, successResult, titleOf } from './tools.ts'

/** The name of a call whose start was missed. */
const UNNAMED = '?'

function keyOf(thread: Thread, callId: string): string {
  return `${thread.id} ${callId}`
}

/** Providers reuse their call ids in other sessions and turns, so each call gets a unique id. */
function newCall(state: OpencodeState, thread: Thread, callId: string, name: string): KnownCall {
  let toolId = callId
  for (let n = 2; state.toolIds.has(toolId); n++) toolId = `${callId}~${n}`
  state.toolIds.add(toolId)
  const call: KnownCall = { toolId, name, proposed: [] }
  state.calls.set(keyOf(thread, callId), call)
  return call
}

function isOver({ ledger }: OpencodeState, toolId: string): boolean {
  return ledger.closedTools.has(toolId)
}

/** The call that a request is about, also one that has not started. */
export function askedCall(state: OpencodeState, thread: Thread, callId: string): KnownCall {
  const known = state.calls.get(keyOf(thread, callId))
  return known && !isOver(state, known.toolId) ? known : newCall(state, thread, callId, UNNAMED)
}

/** Only the start of the input has the name of the tool. */
export function inputStarted(state: OpencodeState, thread: Thread, data: Fields): Emitted[] {
  const callId = text(data, 'id') ?? ''
  const known = state.calls.get(keyOf(thread, callId))
  const isWaiting = known && !isOver(state, known.toolId) && !state.ledger.tools.has(known.toolId)
  if (isWaiting) known.name = text(data, 'name') ?? known.name
  else newCall(state, thread, callId, text(data, 'name') ?? UNNAMED)
  return []
}

export function inputDelta(state: OpencodeState, thread: Thread, data: Fields): Emitted[] {
  const call = state.calls.get(keyOf(thread, text(data, 'id') ?? ''))
  const delta = text(data, 'delta') ?? ''
  if (!call || delta === '') return []
  if (isOver(state, call.toolId) || state.ledger.tools.has(call.toolId)) return []
  const { toolId, name } = call
  const parent = thread.speaker === undefined ? {} : { parent: thread.speaker }
  return [...announce(state, thread), { type: 'tool.input.delta', toolId, name, delta, ...parent }]
}

/** The input is complete. Text in front of the call may still arrive, so the call waits for it. */
export function called(state: OpencodeState, thread: Thread, data: Fields): Emitted[] {
  if (thread.blocks.size === 0) return startCall(state, thread, data)
  thread.heldCalls.push(data)
  return []
}

export function startCall(state: OpencodeState, thread: Thread, data: Fields): Emitted[] {
  const callId = text(data, 'id') ?? ''
  const known = state.calls.get(keyOf(thread, callId))
  if (known && state.ledger.tools.has(known.toolId)) return []
  const isNew = !known || isOver(state, known.toolId)
  const call = isNew ? newCall(state, thread, callId, UNNAMED) : known
  // A stored call has its name; its event does not.
  if (call.name === UNNAMED) call.name = text(data, 'name') ?? UNNAMED
  const { toolId, name } = call
  const input = fields(data, 'input')
  const started = startTool(state.ledger, {
    toolId,
    name,
    kind: kindOf(name, state.mcpServers),
    title: titleOf(input),
    input: data.input,
    locations: locationsOf(name, input, state.start.cwd),
    parent: thread.speaker,
  })
  return [...announce(state, thread), started]
}

/** Metadata is a snapshot: it names the session of a sub-agent, or the MCP calls of a script. */
export function progressed(state: OpencodeState, thread: Thread, data: Fields): Emitted[] {
  const call = state.calls.get(keyOf(thread, text(data, 'id') ?? ''))
  if (!call) return []
  const metadata = fields(data, 'metadata')
  const emitted = linkChild(state, thread, call.toolId, metadata)
  const last = objects(metadata, 'toolCalls').at(-1)
  if (!last) return emitted
  const message = [text(last, 'tool'), text(last, 'status')].filter(Boolean).join(' ')
  return [
    ...emitted,
    ...showServerCall(state, call.toolId),
    ...progressTool(state.ledger, call.toolId, { message }),
  ]
}

/** A script is shown as a call of an MCP server once it calls one. */
function showServerCall({ ledger }: OpencodeState, toolId: string): Emitted[] {
  const open = ledger.tools.get(toolId)
  if (!open || open.kind === 'mcp') return []
  open.kind = 'mcp'
  return [{ type: 'tool.updated', toolId, kind: 'mcp' }]
}

/** The call of a sub-agent names the session of its child. */
function linkChild(state: OpencodeState, thread: Thread, toolId: string, metadata: Fields): Emitted[] {
  const id = text(metadata, 'sessionID')
  const open = state.ledger.tools.get(toolId)
  if (id === undefined || !open || id === state.root?.id) return []
  const input = fields({ input: open.input }, 'input')
  const child = state.threads.get(id) ?? adoptChild(state, id, thread, text(input, 'description') ?? id)
  return announce(state, child, {
    toolId,
    ...compact({ prompt: text(input, 'prompt'), agentType: child.agentType ?? text(input, 'agent') }),
    ...(flag(input, 'background') && { background: true }),
  })
}

export function succeeded(state: OpencodeState, thread: Thread, data: Fields): Emitted[] {
  const begun = beginUnseen(state, thread, data)
  const call = state.calls.get(keyOf(thread, text(data, 'id') ?? ''))
  const open = call && state.ledger.tools.get(call.toolId)
  if (!open) return begun
  const metadata = fields(data, 'metadata')
  const emitted = linkChild(state, thread, call.toolId, metadata)
  stayInBackground(state, text(metadata, 'sessionID'))
  const result = successResult(open.name, data)
  const changes = changesOf(open, data, call.proposed)
  return [...begun, ...emitted, ...finishTool(state.ledger, call.toolId, result, changes)]
}

/** A result without a call: the events of its start were missed. */
function beginUnseen(state: OpencodeState, thread: Thread, data: Fields): Emitted[] {
  const known = state.calls.get(keyOf(thread, text(data, 'id') ?? ''))
  return known ? [] : startCall(state, thread, { id: data.id })
}

/** A call that ends before its sub-agent has moved it to the background: it outlives the turn. */
function stayInBackground({ ledger, threads }: OpencodeState, id: string | undefined): void {
  const child = id === undefined ? undefined : threads.get(id)
  const subagent = child && !child.ended ? ledger.subagents.get(child.id) : undefined
  if (subagent) subagent.background = true
}

/** After a restart, the server first reports the failure of calls that ended with the server before. */
export function isBeforeTurn(state: OpencodeState, thread: Thread): boolean {
  return thread === state.root && !state.turn?.delivered
}

export function failed(state: OpencodeState, thread: Thread, data: Fields): Emitted[] {
  const begun = isBeforeTurn(state, thread) ? [] : beginUnseen(state, thread, data)
  const call = state.calls.get(keyOf(thread, text(data, 'id') ?? ''))
  const open = call && state.ledger.tools.get(call.toolId)
  if (!open) return begun
  thread.denied ||= isDeclined(data, open.refusedBy)
  return [...begun, ...finishTool(state.ledger, call.toolId, failedResult(data, open.refusedBy))]
}
