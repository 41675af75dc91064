import * as z from 'zod'
import { BlobRef } from '../blob.ts'
import { DeniedBy, Location, ToolKind, ToolStatus } from '../request/tool.ts'
import type * as types from './tool.types.ts'

const toolId = z.string().describe('Identifies the tool call; all events of the call share the id.')
const name = z.string().describe("The agent's own name of the tool.")
const messageId = z.string().optional().describe('The message that contains the call.')
const parent = z
  .string()
  .optional()
  .describe('The id of the sub-agent that calls; absent on the main thread.')
const locations = z.array(Location).optional().describe('The files that the call concerns.')
const title = z.string().optional().describe('A one-line summary for people.')

/** A piece of the input of a tool call, while the model writes it. Discard it if no `tool.started` follows. */
export const ToolInputDelta = z.strictObject({
  type: z.literal('tool.input.delta'),
  toolId,
  name,
  messageId,
  delta: z.string().describe('The new text of the input only, usually incomplete JSON.'),
  parent,
})
export type ToolInputDelta = types.ToolInputDelta

/** A tool call with its complete input. The tool may still need a decision before it runs. */
export const ToolStarted = z.strictObject({
  type: z.literal('tool.started'),
  toolId,
  name,
  kind: ToolKind.describe('The kind of tool, the same for every agent.'),
  title,
  input: z.unknown().optional().describe('The input, in the format of the agent.'),
  locations,
  messageId,
  parent,
})
export type ToolStarted = types.ToolStarted

/** A correction of a tool call that started, with the changed fields only. */
export const ToolUpdated = z.strictObject({
  type: z.literal('tool.updated'),
  toolId,
  title,
  kind: ToolKind.optional().describe('The kind of tool.'),
  input: z.unknown().optional().describe('The input, in the format of the agent.'),
  locations,
})
export type ToolUpdated = types.ToolUpdated

/** Output or progress of a tool that is running. */
export const ToolProgressed = z.strictObject({
  type: z.literal('tool.progressed'),
  toolId,
  output: z.string().optional().describe('The new output only.'),
  message: z.string().optional().describe("The agent's message about the progress."),
  elapsedMs: z.number().nonnegative().optional().describe('Milliseconds since the tool started.'),
  progress: z.number().min(0).max(1).optional().describe('The completed fraction, from 0 to 1.'),
})
export type ToolProgressed = types.ToolProgressed

/** The end of a tool call. Every `tool.started` has exactly one. */
export const ToolCompleted = z.strictObject({
  type: z.literal('tool.completed'),
  toolId,
  name,
  kind: ToolKind.describe('The kind of tool, the same for every agent.'),
  status: ToolStatus.describe('How the call ended.'),
  output: z.string().optional().describe('The whole output.'),
  error: z.string().optional().describe('The error message of a call that failed or was denied.'),
  exitCode: z.int().optional().describe('The exit code of a command.'),
  durationMs: z
    .number()
    .nonnegative()
    .optional()
    .describe('The duration that the agent reports, in milliseconds.'),
  deniedBy: DeniedBy.optional().describe('Who denied the call.'),
  settled: z
    .boolean()
    .optional()
    .describe('True if Mainstem closed the call at the end of the turn because the agent did not.'),
  data: z.unknown().optional().describe("The agent's structured result."),
  truncated: z.boolean().optional().describe('True if the agent truncated the output.'),
  blob: BlobRef.optional().describe('The output, if it is too large for an event.'),
  parent,
})
export type ToolCompleted = types.ToolCompleted

/** A file changed. Emitted after the tool succeeded, never for a proposed change. */
export const FileChanged = z.strictObject({
  type: z.literal('file.changed'),
  path: z.string().describe('The path of the file.'),
  change: z.enum(['created', 'modified', 'deleted', 'renamed']).describe('The kind of change.'),
  changeReported: z
    .literal(false)
    .optional()
    .describe('False if the agent did not report whether the file existed; `change` is then a guess.'),
  from: z.string().optional().describe('The earlier path of a renamed file.'),
  diff: z.string().optional().describe('The change as a unified diff.'),
  before: z.string().optional().describe('The content before the change.'),
  after: z.string().optional().describe('The content after the change.'),
  toolId: toolId.optional().describe('The tool call that changed the file.'),
  parent,
})
export type FileChanged = types.FileChanged
