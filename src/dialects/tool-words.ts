import type { ToolCompleted } from '../model/events/tool.ts'
import type { ToolStatus } from '../model/index.ts'

type Arguments = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Arguments {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A tool's input for faces that take nothing but an object. */
export function argumentsOf(input: unknown): Arguments {
  if (isObject(input)) return input
  return input === undefined ? {} : { value: input }
}

/** What the tool wrote, or where it is kept when that is too long to be told. */
export function outputOf({ output, blob }: ToolCompleted): string | undefined {
  return output ?? (blob && `[${blob.bytes} bytes in blob ${blob.id}]`)
}

/** For faces with one place for both: what the tool wrote, or why it failed if it wrote nothing. */
export function outputOrError(event: ToolCompleted): string | undefined {
  const output = outputOf(event)
  return output || (event.error ?? output)
}

const WORDS: Record<ToolStatus, string> = {
  success: 'it succeeded',
  error: 'it failed',
  denied: 'it was denied',
  cancelled: 'it was cancelled',
  unknown: 'the agent did not say how it ended',
}

/** Why a tool did not succeed. Agents that have no word for it say it in the output. */
export function whyFailed(event: ToolCompleted): string {
  const { status, error, exitCode } = event
  if (error !== undefined) return error
  if (exitCode !== undefined && exitCode !== 0) return `it exited with ${exitCode}`
  return event.output || WORDS[status]
}
