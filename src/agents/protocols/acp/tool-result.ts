import { type Fields, fields, flag, isFields, number, text } from '../../fields.ts'
import type { ToolResult } from '../../tools.ts'
import type { State, ToolCall } from './state.ts'
import { contentText } from './tool-call.ts'

/** The result of a call, from the frame that ends it. */
export function resultOf(state: State, call: ToolCall, native: Fields): ToolResult {
  const { rawOutput } = native
  const raw = isFields(rawOutput) ? rawOutput : {}
  const output = outputOf(call, native)
  const exitCode = call.exitCode ?? exitCodeIn(raw)
  const duration = fields(raw, 'duration')
  const seconds = number(duration, 'secs')
  const data = isFields(rawOutput) ? rawOutput : call.response
  const truncated = flag(raw, 'truncated') || flag(fields(raw, 'metadata'), 'truncated') || undefined
  const durationMs =
    seconds === undefined ? undefined : Math.max(0, seconds * 1000 + (number(duration, 'nanos') ?? 0) / 1e6)
  const { status, deniedBy } = statusOf(state, call, native, output, exitCode)
  return { status, deniedBy, output, exitCode, durationMs, data, truncated }
}

/** Fields with the plain output in a structured result, best first. */
const OUTPUT_FIELDS = [
  'output',
  'formatted_output',
  'aggregated_output',
  'content',
  'stdout',
  'message',
  'error',
]

/** Prefers the plain output: content is often formatted for a screen. */
function outputOf(call: ToolCall, native: Fields): string | undefined {
  const { rawOutput } = native
  if (typeof rawOutput === 'string' && rawOutput !== '') return rawOutput
  if (isFields(rawOutput)) {
    for (const key of OUTPUT_FIELDS) {
      const output = text(rawOutput, key)
      if (output) return output
    }
  }
  if (Array.isArray(rawOutput)) {
    const texts = rawOutput.flatMap((part) => (isFields(part) ? (text(part, 'text') ?? []) : []))
    if (texts.length > 0) return texts.join('\n')
  }
  const shown = contentText(native) || call.content || call.terminal
  return shown === '' ? undefined : shown
}

function exitCodeIn(raw: Fields): number | undefined {
  const code =
    number(raw, 'exit_code') ??
    number(raw, 'exitCode') ??
    number(fields(raw, 'metadata'), 'exit') ??
    exitIn(raw)
  return code !== undefined && Number.isSafeInteger(code) ? code : undefined
}

/** One agent lists the exit codes of its shells. */
function exitIn(raw: Fields): number | undefined {
  if (!Array.isArray(raw.contents)) return undefined
  const exit = raw.contents.find((part) => isFields(part) && part.type === 'shell_exit')
  return isFields(exit) ? number(exit, 'exitCode') : undefined
}

function statusOf(
  state: State,
  call: ToolCall,
  native: Fields,
  output: string | undefined,
  exitCode: number | undefined,
): Pick<ToolResult, 'status' | 'deniedBy'> {
  const { quirks, turn } = state
  const raw = fields(native, 'rawOutput')
  const failed = native.status !== 'completed'
  const refusedBy = state.ledger.tools.get(call.toolId ?? '')?.refusedBy
  // Some agents report a denied call as completed.
  if (refusedBy) return { status: 'denied', deniedBy: refusedBy }
  const isCancelled = native.status === 'cancelled' || raw.outcome === 'cancelled'
  const stopped = isCancelled || (output !== undefined && quirks.cancelled?.test(output))
  if (stopped || (failed && turn?.cancelling)) return { status: 'cancelled' }
  const rejected = fields(fields(native, '_meta'), 'claudeCode').nonExecutionKind === 'user-rejected'
  if (failed && (rejected || raw.code === 'rejected')) return { status: 'denied', deniedBy: 'agent' }
  if (failed && output !== undefined && quirks.denied?.test(output)) {
    return { status: 'denied', deniedBy: 'policy' }
  }
  return { status: failed || (exitCode !== undefined && exitCode !== 0) ? 'error' : 'success' }
}
