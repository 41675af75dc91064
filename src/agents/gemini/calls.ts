import type { Decoded, Emitted } from '../agent.ts'
import { emitAll, nothing, unmapped } from '../kit/decoded.ts'
import { compact, type Fields, fields, isFields, text } from '../kit/fields.ts'
import { finishSubagent, startSubagent } from '../kit/subagents.ts'
import { finishTool, openToolId, startTool, type ToolResult, toolIdOf } from '../kit/tools.ts'
import { closeText, type GeminiState } from './state.ts'
import { changeOf, fileOf, kindOf, planOf, statusOf, titleOf } from './tools.ts'

/** A call with its complete input; the calls of a parallel step all come before their results. */
export function decodeToolUse(state: GeminiState, native: Fields): Decoded {
  const emitted = closeText(state)
  const name = text(native, 'tool_name') ?? '?'
  startCall(state, emitted, text(native, 'tool_id') ?? nextCall(state), name, native.parameters)
  return emitAll(emitted)
}

/**
 * A model call ends with the first result of its tools. Its usage is unknown, so it is reported only where calls must
 * be counted.
 */
function endStep(state: GeminiState): Emitted[] {
  const { hasOutput, start } = state
  state.hasOutput = false
  if (!hasOutput || start.policy.maxSteps === undefined) return []
  return [{ type: 'usage.reported', scope: 'step', source: 'computed' }]
}

/** The documented format reports a call in one line; the next line of the model ends it. */
export function decodeToolCall(state: GeminiState, native: Fields): Decoded {
  const emitted = [...closeText(state), ...finishDocumentedCall(state, 'success')]
  state.documentedCall = nextCall(state)
  startCall(state, emitted, state.documentedCall, text(native, 'name') ?? '?', native.args)
  return emitAll(emitted)
}

/** Ends the open call of the documented format, if there is one. */
export function finishDocumentedCall(state: GeminiState, status: 'success' | 'unknown'): Emitted[] {
  const id = state.documentedCall
  if (id === undefined) return []
  state.documentedCall = undefined
  return finishCall(state, id, id, { status })
}

function nextCall(state: GeminiState): string {
  return `e${state.start.epoch}.c${++state.calls}`
}

function startCall(
  state: GeminiState,
  emitted: Emitted[],
  nativeId: string,
  name: string,
  input: unknown,
): void {
  const { ledger } = state
  state.hasOutput = true
  const own = ownId(state, nativeId)
  const toolId = toolIdOf(ledger, own)
  const kind = kindOf(name)
  emitted.push(startTool(ledger, { toolId: own, name, kind, title: titleOf(input), input }))
  const plan = planOf(name, input)
  if (plan) state.plans.set(toolId, plan)
  const path = fileOf(input, state.start.cwd)
  if (path !== undefined) {
    state.paths.set(toolId, path)
    // An earlier process of this session may have created the file.
    const guess = state.start.resume === undefined ? 'unlikely' : 'likely'
    const change = changeOf(name, input, path, state.files.has(path) ? 'certain' : guess)
    if (change) state.changes.set(toolId, change)
  }
  if (kind !== 'task') return
  const agent = isFields(input) ? text(input, 'agent_name') : undefined
  const prompt = isFields(input) ? text(input, 'prompt') : undefined
  const more = compact({ agentType: agent, prompt })
  emitted.push(...startSubagent(ledger, { id: toolId, toolId, label: agent ?? name, ...more }))
}

/** Providers repeat ids: a second call under an open id gets a new id, and the later result. */
function ownId(state: GeminiState, nativeId: string): string {
  const { ledger, twins } = state
  const toolId = toolIdOf(ledger, nativeId)
  if (!ledger.tools.has(toolId)) return nativeId
  const waiting = twins.get(nativeId) ?? []
  twins.set(nativeId, waiting)
  const twin = `${toolId}#${++state.calls}`
  waiting.push(twin)
  return twin
}

export function decodeToolResult(state: GeminiState, native: Fields, raw: string): Decoded {
  const { ledger } = state
  const nativeId = text(native, 'tool_id') ?? ''
  const known = openToolId(ledger, nativeId)
  const toolId = known ?? state.twins.get(nativeId)?.shift()
  const open = toolId === undefined ? undefined : ledger.tools.get(toolId)
  if (toolId === undefined || !open) {
    return ledger.closedTools.has(nativeId) ? nothing : unmapped('tool_result', raw)
  }
  const { status, deniedBy } = statusOf(open.name, native)
  const error = fields(native, 'error')
  const type = text(error, 'type')
  const result: ToolResult = {
    status,
    deniedBy,
    output: text(native, 'output'),
    error: text(error, 'message'),
    data: type === undefined ? undefined : { type },
  }
  return emitAll(finishCall(state, toolId, known === undefined ? toolId : nativeId, result))
}

/** Ends a call and emits its plan and file change if it succeeded. */
function finishCall(state: GeminiState, toolId: string, nativeId: string, result: ToolResult): Emitted[] {
  const { ledger } = state
  const { status } = result
  const plan = state.plans.get(toolId)
  const change = state.changes.get(toolId)
  const path = state.paths.get(toolId)
  if (path !== undefined && status === 'success') state.files.add(path)
  state.plans.delete(toolId)
  state.changes.delete(toolId)
  state.paths.delete(toolId)
  const emitted = endStep(state)
  if (plan && status === 'success') emitted.push({ type: 'plan.updated', items: plan })
  emitted.push(...finishTool(ledger, nativeId, result, change ? [change] : []))
  const ended = status === 'success' || status === 'cancelled' ? status : 'error'
  emitted.push(...finishSubagent(ledger, toolId, { status: ended }))
  return emitted
}
