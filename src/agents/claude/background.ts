import type { SubagentCompleted } from '../../model/events/work.ts'
import type { ToolStatus } from '../../model/index.ts'
import type { Decoded, Emitted } from '../agent.ts'
import { emit, emitAll, nothing, skipped } from '../kit/decoded.ts'
import { asFields, compact, count, type Fields, fields, flag, text } from '../kit/fields.ts'
import { settleThread } from '../kit/settle.ts'
import { finishSubagent, startSubagent } from '../kit/subagents.ts'
import { progressTool } from '../kit/tools.ts'
import type { ClaudeState } from './state.ts'
import { noteLastCall } from './turn-usage.ts'

export function decodeTaskStarted(state: ClaudeState, native: Fields): Decoded {
  const id = text(native, 'tool_use_id') ?? text(native, 'task_id') ?? '?'
  const label = text(native, 'description') ?? ''
  const background = flag(native, 'is_backgrounded')
  if (text(native, 'task_type') === 'local_agent') {
    const parent = state.ledger.tools.get(id)?.parent
    const known = state.ledger.subagents.get(id)
    if (known) known.background ||= background
    const more = compact({
      agentType: text(native, 'subagent_type'),
      prompt: text(native, 'prompt'),
      parent,
    })
    return emitAll(startSubagent(state.ledger, { id, toolId: id, label, background, ...more }))
  }
  // A shell that runs for some seconds is announced as a task too; it is not a sub-agent.
  state.shells.set(id, { label, background })
  return background
    ? emit(shellStarted(id, label))
    : emitAll(progressTool(state.ledger, id, { message: label }))
}

export function anyInBackground(shells: ClaudeState['shells']): boolean {
  return [...shells.values()].some(({ background }) => background)
}

/** Emits the call of a sub-agent before its lines; versions that do not announce it give no other sign. */
export function adoptSubagent(state: ClaudeState, id: string | undefined): Emitted[] {
  const call = id === undefined ? undefined : state.ledger.tools.get(id)
  if (id === undefined || call?.kind !== 'task') return []
  const input = asFields(call.input)
  return startSubagent(state.ledger, {
    id,
    toolId: id,
    label: text(input, 'description') ?? '',
    background: false,
    ...compact({
      agentType: text(input, 'subagent_type'),
      prompt: text(input, 'prompt'),
      parent: call.parent,
    }),
  })
}

function shellStarted(toolId: string, message: string): Emitted {
  return { type: 'notice.raised', level: 'info', code: 'background_started', message, data: { toolId } }
}

export function decodeTaskProgress(state: ClaudeState, native: Fields): Decoded {
  const id = text(native, 'tool_use_id')
  if (id === undefined || !state.ledger.subagents.has(id)) return nothing
  // Its `total_tokens` is the size of the last call, not the usage of the sub-agent.
  const message = text(native, 'description')
  return emit({ type: 'subagent.progressed', id, ...compact({ message }) })
}

export function decodeTaskNotification(state: ClaudeState, native: Fields): Decoded {
  const id = text(native, 'tool_use_id') ?? text(native, 'task_id') ?? '?'
  const summary = text(native, 'summary')
  if (state.ledger.subagents.has(id)) {
    const durationMs = count(fields(native, 'usage'), 'duration_ms')
    const status = taskStatus(text(native, 'status'))
    return emitAll(endSubagent(state, id, { status, ...compact({ summary, durationMs }) }))
  }
  const shell = state.shells.get(id)
  state.shells.delete(id)
  // The tool result reports the end of a foreground shell.
  if (!shell) return nothing
  if (!shell.background) return skipped
  return emit({
    type: 'notice.raised',
    level: 'info',
    code: 'background_finished',
    message: summary ?? '',
    data: compact({ toolId: id, status: text(native, 'status'), outputFile: text(native, 'output_file') }),
  })
}

function endSubagent(state: ClaudeState, id: string, end: Omit<SubagentCompleted, 'type' | 'id'>): Emitted[] {
  state.innerStreams.delete(id)
  const emitted = settleThread(state.ledger, id, end.status)
  for (const [inner, { parent, background }] of state.ledger.subagents) {
    if (parent === id && !background) emitted.push(...endSubagent(state, inner, { status: end.status }))
  }
  emitted.push(...finishSubagent(state.ledger, id, end))
  return emitted
}

/** The call of a sub-agent or shell has returned. Tasks moved to the background continue after it. */
export function returnTask(
  state: ClaudeState,
  id: string,
  status: ToolStatus,
  result: Fields | undefined,
): Emitted[] {
  if (result && text(result, 'agentId') !== undefined) noteLastCall(state, result)
  const shell = state.shells.get(id)
  if (shell && !shell.background) {
    if (result && text(result, 'backgroundTaskId') !== undefined) {
      shell.background = true
      return [shellStarted(id, shell.label)]
    }
    state.shells.delete(id)
  }
  const subagent = state.ledger.subagents.get(id)
  if (!subagent || subagent.background) return []
  if (result && text(result, 'status') === 'async_launched') {
    subagent.background = true
    return []
  }
  const ended = status === 'success' || status === 'cancelled' ? status : 'error'
  return endSubagent(state, id, { status: ended })
}

function taskStatus(status: string | undefined): 'success' | 'error' | 'cancelled' {
  if (status === 'completed') return 'success'
  return status === 'failed' ? 'error' : 'cancelled'
}
