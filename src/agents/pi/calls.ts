import { compareVersions } from '../../model/version.ts'
import type { Decoded } from '../agent.ts'
import { emit, emitAll, nothing } from '../kit/decoded.ts'
import { amount, type Fields, fields, flag, int, text } from '../kit/fields.ts'
import { finishTool, openToolId, progressTool, startTool, type ToolResult } from '../kit/tools.ts'
import type { PiState } from './state.ts'
import { changesOf, dataOf, isTakenAway, kindOf, locationsOf, textOf, titleOf } from './tools.ts'

/** A call starts when it runs: one that a broken stream discarded never does. */
export function decodeCallStart(state: PiState, native: Fields): Decoded {
  const toolId = text(native, 'toolCallId') ?? '?'
  if (openToolId(state.ledger, toolId) !== undefined) return nothing
  const name = text(native, 'toolName') ?? '?'
  const input = fields(native, 'args')
  state.turn.inputs.set(toolId, input)
  state.turn.outputs.delete(toolId)
  const [title, locations] = [titleOf(input), locationsOf(input)]
  return emit(
    startTool(state.ledger, { toolId, name, kind: kindOf(name), title, input: native.args, locations }),
  )
}

/** Each progress frame contains the whole output so far; only the new part is emitted. */
export function decodeCallProgress(state: PiState, native: Fields): Decoded {
  const toolId = text(native, 'toolCallId') ?? '?'
  const before = state.turn.outputs.get(toolId) ?? ''
  const now = textOf(fields(native, 'partialResult').content)
  if (now === before) return nothing
  state.turn.outputs.set(toolId, now)
  // A long output is truncated at its start; the text between two such frames is only in the result.
  if (!now.startsWith(before)) return nothing
  return emitAll(progressTool(state.ledger, toolId, { output: now.slice(before.length) }))
}

export function decodeCallEnd(state: PiState, native: Fields): Decoded {
  const toolId = text(native, 'toolCallId') ?? '?'
  const input = state.turn.inputs.get(toolId) ?? {}
  state.turn.inputs.delete(toolId)
  state.turn.outputs.delete(toolId)
  const name = text(native, 'toolName') ?? '?'
  const result = fields(native, 'result')
  const shown = textOf(result.content)
  const structured = fields(result, 'structuredContent')
  // The complete output, if the text is only its end plus remarks to the model.
  const output = text(structured, 'output')
  const { status, deniedBy } = statusOf(state, native, shown)
  const truncation = fields(fields(result, 'details'), 'truncation')
  const isCut = flag(structured, 'truncated') || (output === undefined && flag(truncation, 'truncated'))
  const ended: ToolResult = {
    status,
    deniedBy,
    output: output ?? (flag(native, 'isError') ? undefined : shown),
    error: flag(native, 'isError') ? shown : undefined,
    exitCode: int(structured, 'exit_code'),
    truncated: isCut || undefined,
    durationMs: amount(native, 'durationMs'),
    data: dataOf(result, shown, output ?? shown),
  }
  return emitAll(finishTool(state.ledger, toolId, ended, changesOf(name, input, result)))
}

function statusOf(state: PiState, native: Fields, shown: string): Pick<ToolResult, 'status' | 'deniedBy'> {
  if (!flag(native, 'isError')) return { status: 'success' }
  if (state.turn.interrupting && /aborted$/.test(shown)) return { status: 'cancelled' }
  const name = text(native, 'toolName') ?? '?'
  if (native.durationMs !== undefined) return { status: 'error' }
  if (isTakenAway(name, shown)) return { status: 'denied', deniedBy: 'policy' }
  if (/^Tool .* not found$/.test(shown) || shown.startsWith('Validation failed')) return { status: 'error' }
  const open = state.ledger.tools.get(openToolId(state.ledger, text(native, 'toolCallId') ?? '?') ?? '')
  if (open?.refusedBy) return { status: 'denied', deniedBy: open.refusedBy }
  // A call without a duration did not run: a hook of another extension blocked it.
  return reportsDurations(state) ? { status: 'denied', deniedBy: 'hook' } : { status: 'error' }
}

/** Earlier versions report no duration of any call. */
function reportsDurations({ start: { version } }: PiState): boolean {
  return version === undefined || compareVersions(version, '1.0.0') >= 0
}
