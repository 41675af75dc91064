import { z } from 'zod'
import { BlobRef } from '../blob.ts'
import { Usage } from '../usage.ts'

const tokens = z.int().nonnegative().optional()

export const ContextCompacted = z.strictObject({
  type: z.literal('context.compacted'),
  before: tokens,
  after: tokens,
  trigger: z.string().optional(),
})
export type ContextCompacted = z.infer<typeof ContextCompacted>

/**
 * `step` is one model call of the main thread. `subagent` is what a sub-agent used since its last report; without
 * `subagentId`, several sub-agents together. `turn` is the total of a turn, steps and sub-agents included: at most one
 * a turn, never added to the others. A `subagent` report outside a turn belongs to no turn's total; it is added to the
 * usage of the session directly. `context` is how full the window is.
 */
export const UsageReported = z.strictObject({
  type: z.literal('usage.reported'),
  scope: z.enum(['step', 'turn', 'subagent', 'context']),
  ...Usage.shape,
  subagentId: z.string().optional(),
  model: z.string().optional(),
  contextUsed: tokens,
  contextSize: tokens,
  source: z.enum(['agent', 'computed']),
})
export type UsageReported = z.infer<typeof UsageReported>

export const LimitReported = z.strictObject({
  type: z.literal('limit.reported'),
  kind: z.enum(['retry', 'rate', 'quota']),
  attempt: z.int().nonnegative().optional(),
  of: z.int().nonnegative().optional(),
  delayMs: z.number().nonnegative().optional(),
  status: z.int().optional(),
  message: z.string().optional(),
  resetsAt: z.union([z.string(), z.number()]).optional(),
  usedPercent: z.number().optional(),
})
export type LimitReported = z.infer<typeof LimitReported>

export const NoticeCode = z.enum([
  'agent_warning',
  'agent_error',
  'deprecated',
  'loop_detected',
  'background_started',
  'background_finished',
  'tool_refused',
  'mode_refused',
  'interrupt_refused',
  'interrupt_unconfirmed',
  'late_frame',
  'untested_version',
  'shared_directory',
  'protocol_refused',
  'resume_failed',
  'context_lost',
  'secrets_masked',
  'process_survived',
  'agent_silent',
  'exit_forced',
  'message_truncated',
])
export type NoticeCode = z.infer<typeof NoticeCode>

/** A warning that ends nothing. */
export const NoticeRaised = z.strictObject({
  type: z.literal('notice.raised'),
  level: z.enum(['info', 'warning', 'error']),
  code: NoticeCode,
  message: z.string(),
  data: z.unknown().optional(),
})
export type NoticeRaised = z.infer<typeof NoticeRaised>

/** What is not the agent's protocol. */
export const OutputWritten = z.strictObject({
  type: z.literal('output.written'),
  stream: z.enum(['stdout', 'stderr']),
  line: z.string(),
})
export type OutputWritten = z.infer<typeof OutputWritten>

/** A frame no rule knows, kept whole: its text, or the blob that holds it. */
export const NativeUnmapped = z.strictObject({
  type: z.literal('native.unmapped'),
  nativeType: z.string(),
  frame: z.string().optional(),
  blob: BlobRef.optional(),
})
export type NativeUnmapped = z.infer<typeof NativeUnmapped>
