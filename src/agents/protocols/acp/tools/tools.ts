import type { ToolUpdated } from '../../../../model/events/tool.ts'
import type { Decoded, Emitted } from '../../../agent.ts'
import { emitAll, held, nothing, skipped } from '../../../kit/decoded.ts'
import { compact, type Fields, isFields, text } from '../../../kit/fields.ts'
import { finishSubagent, startSubagent } from '../../../kit/subagents.ts'
import { finishTool, redefineTool, startTool, toolIdOf } from '../../../kit/tools.ts'
import { openTurn, runningTurn, strayText } from '../between-turns.ts'
import { closeBlock } from '../blocks.ts'
import type { AcpChild, AcpState, ToolCall } from '../state.ts'
import { changesDone } from './changes.ts'
import { contentText, contentTexts, inputOf, learn, newToolCall, same, terminalDelta } from './tool-call.ts'
import { resultOf } from './tool-result.ts'

/** The last one is from the draft version. */
const ENDS: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled'])

/** A call is announced, refined and ended; some agents skip the announcement, some send everything at once. */
export function decodeTool(state: AcpState, update: Fields, child?: AcpChild): Decoded {
  if (state.replaying) return skipped
  const id = text(update, 'toolCallId') ?? '?'
  const announced = update.sessionUpdate === 'tool_call'
  let call = state.tools.get(id)
  // Updates of an ended call repeat its result, unless its id is reused.
  if (!call && !announced && state.ledger.closedTools.has(id)) {
    const texts = lateTexts(update)
    return { ...nothing, repeats: texts, continues: texts }
  }
  const emitted = child ? [] : openTurn(state, isFields(update._meta) ? update._meta : undefined)
  const thread = child ? openChild(state, child) : runningTurn(state)
  if (!thread && !call) return emitAll(strayText(text(update, 'title') ?? id))
  if (thread) emitted.push(...closeBlock(state, thread))
  if (!call) {
    call = newToolCall()
    call.parent = child?.subagent
    state.tools.set(id, call)
  }
  const before = { ...call }
  learn(state, call, id, update)
  const ended = ENDS.has(update.status)
  if (call.toolId !== undefined) emitted.push(...refined(state, call, before, update, ended))
  // The input is incomplete: only the next frame has all of it.
  else if (!ended && before.input === undefined && isDraft(update)) return held(emitted)
  // The content of the last frame is the result, not a description of the call.
  else emitted.push(...startCall(state, call, id, ended ? {} : update))
  if (hasBegun(state, call, update)) emitted.push(...startChild(state, call))
  if (ended) emitted.push(...endCall(state, call, id, update))
  const isProgress = !ended && before.toolId !== undefined
  return isProgress ? { ...emitAll(emitted), continues: contentTexts(update) } : emitAll(emitted)
}

function lateTexts(update: Fields): string[] {
  const shown = contentText(update)
  const raw = text(update, 'rawOutput') ?? ''
  return [shown, raw, terminalDelta(update)].filter((one) => one.trim() !== '')
}

/** A sub-agent that has not ended. */
function openChild({ ledger }: AcpState, child: AcpChild): AcpChild | undefined {
  return ledger.subagents.has(child.subagent) ? child : undefined
}

/** Returns whether the call has run. A denied call has not, whatever its status. */
function hasBegun(state: AcpState, { toolId = '' }: ToolCall, { status }: Fields): boolean {
  if (status === 'pending' || status === 'failed' || status === 'cancelled') return false
  return state.ledger.tools.get(toolId)?.refusedBy === undefined
}

function isDraft(update: Fields): boolean {
  if (update.status !== 'pending' || !isFields(update.rawInput)) return false
  // The working directory is known before the command.
  return Object.keys(update.rawInput).every((key) => key === 'cwd')
}

export function startCall(state: AcpState, call: ToolCall, id: string, native: Fields): Emitted[] {
  const { title, locations, parent } = call
  const name = call.name ?? '?'
  const kind = call.kind ?? 'other'
  const toolId = toolIdOf(state.ledger, id)
  const input = inputOf(call, native)
  call.toolId = toolId
  call.terminal += terminalDelta(native)
  if (state.turn && parent === undefined) state.turn.tools++
  return [startTool(state.ledger, { toolId: id, name, kind, title, input, locations, parent })]
}

/** A sub-agent starts when its call runs, not while its approval is pending. */
function startChild(state: AcpState, { toolId, name, title, input, parent }: ToolCall): Emitted[] {
  if (toolId === undefined || name === undefined || !state.quirks.subagentTools.includes(name)) return []
  const asked = isFields(input) ? input : {}
  const more = compact({ agentType: text(asked, 'subagent_type'), prompt: text(asked, 'prompt'), parent })
  const label = text(asked, 'description') ?? title ?? name
  if (state.turn) state.turn.delegated = true
  return startSubagent(state.ledger, { id: toolId, toolId, label, ...more })
}

/** Emits the new properties and the new output of an update. */
function refined(
  state: AcpState,
  call: ToolCall,
  before: Readonly<ToolCall>,
  update: Fields,
  ended: boolean,
): Emitted[] {
  const emitted = redefined(state, call, before)
  const toolId = call.toolId ?? ''
  const output = progress(call, update, ended)
  if (output !== '') emitted.push({ type: 'tool.progressed', toolId, output })
  return emitted
}

/** Emits properties of a call that were not known before. */
export function redefined(state: AcpState, call: ToolCall, before: Readonly<ToolCall>): Emitted[] {
  const toolId = call.toolId ?? ''
  const { kind = 'other', locations, input } = call
  if (kind !== before.kind || locations !== before.locations || input !== before.input)
    redefineTool(state.ledger, toolId, { kind, locations, input })
  const changed: Omit<ToolUpdated, 'type' | 'toolId'> = {
    ...(call.title !== undefined && call.title !== before.title && { title: call.title }),
    ...(call.kind !== undefined && call.kind !== before.kind && { kind: call.kind }),
    ...(!same(call.input, before.input) && { input: call.input }),
    ...(call.locations && !same(call.locations, before.locations) && { locations: call.locations }),
  }
  return Object.keys(changed).length > 0 ? [{ type: 'tool.updated', toolId, ...changed }] : []
}

/** Terminal output arrives in deltas, content as the complete text so far. */
function progress(call: ToolCall, update: Fields, ended: boolean): string {
  const piece = terminalDelta(update)
  call.terminal += piece
  // The content of the last frame is part of the result.
  if (ended) return ''
  if (piece !== '') return piece
  const content = contentText(update)
  const shown = call.content
  if (content === '') return ''
  call.content = content
  return content.slice(overlapOf(shown, content))
}

/** So many characters of the end of an output are compared with the beginning of the next one. */
const OVERLAP = 64

/** How much of `next` is shown already. Some agents send the last part of a long output only. */
function overlapOf(shown: string, next: string): number {
  if (next.startsWith(shown)) return shown.length
  const at = next.lastIndexOf(shown.slice(-OVERLAP))
  const length = at === -1 ? 0 : at + Math.min(OVERLAP, shown.length)
  return shown.endsWith(next.slice(0, length)) ? length : 0
}

function endCall(state: AcpState, call: ToolCall, id: string, update: Fields): Emitted[] {
  state.tools.delete(id)
  const result = resultOf(state, call, update)
  const { rawOutput } = update
  if (isFields(rawOutput) && rawOutput.executionMode === 'background') call.detached = true
  const done = changesDone(call.changes, rawOutput, call.response, call.input)
  const emitted = finishTool(state.ledger, id, result, done)
  const toolId = call.toolId ?? ''
  const subagent = state.ledger.subagents.get(toolId)
  if (!subagent) return emitted
  if (call.detached) {
    // The end of such a sub-agent is reported; otherwise it ends with the turn or the process.
    subagent.background = isFields(rawOutput) && rawOutput.executionMode === 'background'
    return emitted
  }
  const { status } = result
  emitted.push(
    ...finishSubagent(state.ledger, toolId, {
      status: status === 'success' || status === 'cancelled' ? status : 'error',
    }),
  )
  return emitted
}
