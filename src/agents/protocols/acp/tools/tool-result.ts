import { type Fields, fields, flag, isFields, list, number, text } from '../../../kit/fields.ts'
import { hasOmission, type ToolResult } from '../../../kit/tools.ts'
import type { AcpState, ToolCall } from '../state.ts'
import { contentText } from './tool-call.ts'

/** The result of a call, from the frame that ends it. */
export function resultOf(state: AcpState, call: ToolCall, native: Fields): ToolResult {
  const { rawOutput } = native
  const raw = isFields(rawOutput) ? rawOutput : {}
  const shell = shellExitIn(raw)
  const output = withoutTrailer(outputOf(call, native), shell)
  const exitCode = call.exitCode ?? exitCodeIn(raw, shell)
  const duration = fields(raw, 'duration')
  const seconds = number(duration, 'secs')
  const data = withShown(isFields(rawOutput) ? rawOutput : call.response, shownOf(native, output))
  const truncated = isTruncated(call, raw, shell) || hasOmission(output) || undefined
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

/** What the agent shows of the result, unless it is the output again. */
function shownOf(native: Fields, output = ''): string | undefined {
  const shown = contentText(native)
  return output.includes(withoutFence(shown).trim()) ? undefined : shown
}

/** Some agents show the output as a block of code. */
function withoutFence(shown: string): string {
  return FENCED.exec(shown)?.[1] ?? shown
}

const FENCED = /^\s*(?:`{3,})[a-z]*\n([\s\S]*?)\n?`{3,}\s*$/

function withShown(data: unknown, shown: string | undefined): unknown {
  if (shown === undefined) return data
  if (data === undefined || isFields(data)) return { ...data, shown }
  return { response: data, shown }
}

function exitCodeIn(raw: Fields, shell: Fields): number | undefined {
  const code =
    number(raw, 'exit_code') ??
    number(raw, 'exitCode') ??
    number(fields(raw, 'metadata'), 'exit') ??
    number(shell, 'exitCode')
  return code !== undefined && Number.isSafeInteger(code) ? code : undefined
}

/** One agent reports the end of its shell beside the output. */
function shellExitIn(raw: Fields): Fields {
  return (
    list(raw, 'contents').find((part): part is Fields => isFields(part) && part.type === 'shell_exit') ?? {}
  )
}

/** That agent also appends a line about the end to the output, for its model; `data` keeps it. */
function withoutTrailer(output: string | undefined, shell: Fields): string | undefined {
  const { shellId, exitCode } = shell
  const trailer = `<shellId: ${shellId} completed with exit code ${exitCode}>`
  if (shellId === undefined || !output?.endsWith(trailer)) return output
  return output.slice(0, -trailer.length)
}

/** Agents that save a long output to a file report its beginning. */
function isTruncated({ response }: ToolCall, raw: Fields, shell: Fields): boolean {
  if (flag(raw, 'truncated') || flag(fields(raw, 'metadata'), 'truncated')) return true
  if (flag(shell, 'outputTruncated')) return true
  return isFields(response) && text(response, 'persistedOutputPath') !== undefined
}

function statusOf(
  state: AcpState,
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
  if (output !== undefined && quirks.blocked?.test(output)) return { status: 'error' }
  return { status: failed || (exitCode !== undefined && exitCode !== 0) ? 'error' : 'success' }
}
