import { type Fields, fields, flag, isFields, number, text } from '../../fields.ts'
import type { ToolResult } from '../../tools.ts'
import type { State, ToolCall } from './state.ts'
import { contentText } from './tool-call.ts'

/** How a call ended, from a frame that says it did. */
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

/** Where agents put the plain output of a call in a structured result, best first. */
const OUTPUT_FIELDS = [
  'output',
  'formatted_output',
  'aggregated_output',
  'content',
  'stdout',
  'message',
  'error',
]

/** The plain output first: what is shown as content is often dressed up for a screen. */
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

/** One agent lists how its shells ended. */
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
  // Some agents call a call that they were not allowed to make completed.
  if (refusedBy) return { status: 'denied', deniedBy: refusedBy }
  const told = native.status === 'cancelled' || raw.outcome === 'cancelled'
  const stopped = told || (output !== undefined && quirks.cancelled?.test(output))
  if (stopped || (failed && turn?.cancelling)) return { status: 'cancelled' }
  const rejected = fields(fields(native, '_meta'), 'claudeCode').nonExecutionKind === 'user-rejected'
  if (failed && (rejected || raw.code === 'rejected')) return { status: 'denied', deniedBy: 'agent' }
  if (failed && output !== undefined && quirks.denied?.test(output)) {
    return { status: 'denied', deniedBy: 'policy' }
  }
  return { status: failed || (exitCode !== undefined && exitCode !== 0) ? 'error' : 'success' }
}
