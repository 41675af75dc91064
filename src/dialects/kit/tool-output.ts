import { blobReference } from '../../model/blob.ts'
import type { ToolCompleted } from '../../model/events/tool.ts'
import type { ToolStatus } from '../../model/index.ts'

type Arguments = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Arguments {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns a tool's input for dialects that accept only objects. */
export function argumentsOf(input: unknown): Arguments {
  if (isObject(input)) return input
  return input === undefined ? {} : { value: input }
}

/** Returns the tool's output, or a reference to its blob when the output is too long. */
export function outputOf({ output, blob }: ToolCompleted): string | undefined {
  return output ?? (blob && blobReference(blob))
}

/** For dialects with one field for both: the output, or the failure reason if there is no output. */
export function outputOrError(event: ToolCompleted): string | undefined {
  const output = outputOf(event)
  return output || (event.error ?? output)
}

const WORDS: Record<ToolStatus, string> = {
  success: 'it succeeded',
  error: 'it failed',
  denied: 'the call was denied',
  cancelled: 'the call was cancelled',
  unknown: 'the agent did not report how the call ended',
}

/** Returns why a tool failed. Agents without an error field put the reason into the output. */
export function whyFailed(event: ToolCompleted): string {
  const { status, error, exitCode } = event
  if (error !== undefined) return error
  if (exitCode !== undefined && exitCode !== 0) return `it exited with ${exitCode}`
  return event.output || WORDS[status]
}
