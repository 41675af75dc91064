import { z } from 'zod'
import { BlobRef } from '../blob.ts'
import { DeniedBy, Location, ToolKind, ToolStatus } from '../tool.ts'

const toolId = z.string()
const parent = z.string().optional()
const progress = z.number().min(0).max(1).optional()
const durationMs = z.number().nonnegative().optional()

/** A draft of a call. Void when no `tool.started` follows. */
export const ToolInputDelta = z.strictObject({
  type: z.literal('tool.input.delta'),
  toolId,
  name: z.string(),
  messageId: z.string().optional(),
  delta: z.string(),
  parent,
})
export type ToolInputDelta = z.infer<typeof ToolInputDelta>

/** Emitted when the input is complete. */
export const ToolStarted = z.strictObject({
  type: z.literal('tool.started'),
  toolId,
  name: z.string(),
  kind: ToolKind,
  title: z.string().optional(),
  input: z.unknown().optional(),
  locations: z.array(Location).optional(),
  messageId: z.string().optional(),
  parent,
})
export type ToolStarted = z.infer<typeof ToolStarted>

export const ToolUpdated = z.strictObject({
  type: z.literal('tool.updated'),
  toolId,
  title: z.string().optional(),
  kind: ToolKind.optional(),
  input: z.unknown().optional(),
  locations: z.array(Location).optional(),
})
export type ToolUpdated = z.infer<typeof ToolUpdated>

export const ToolProgressed = z.strictObject({
  type: z.literal('tool.progressed'),
  toolId,
  output: z.string().optional().describe('an increment'),
  message: z.string().optional(),
  elapsedMs: z.number().nonnegative().optional(),
  progress,
})
export type ToolProgressed = z.infer<typeof ToolProgressed>

export const ToolCompleted = z.strictObject({
  type: z.literal('tool.completed'),
  toolId,
  name: z.string(),
  kind: ToolKind,
  status: ToolStatus,
  output: z.string().optional(),
  error: z.string().optional(),
  exitCode: z.int().optional(),
  durationMs,
  deniedBy: DeniedBy.optional(),
  settled: z.boolean().optional().describe('closed by us when its turn ended, not by the agent'),
  data: z.unknown().optional().describe('the structured native result'),
  truncated: z.boolean().optional(),
  blob: BlobRef.optional(),
  parent,
})
export type ToolCompleted = z.infer<typeof ToolCompleted>

/** Only when the tool succeeded, never from a proposal. */
export const FileChanged = z.strictObject({
  type: z.literal('file.changed'),
  path: z.string(),
  change: z.enum(['created', 'modified', 'deleted', 'renamed']),
  from: z.string().optional(),
  diff: z.string().optional(),
  before: z.string().optional(),
  after: z.string().optional(),
  toolId: toolId.optional(),
  parent,
})
export type FileChanged = z.infer<typeof FileChanged>
