import * as z from 'zod'
import { BlobRef } from '../blob.ts'
import { Usage } from '../usage.ts'
import type * as types from './report.types.ts'

const tokens = z.int().nonnegative().optional()

/** The agent summarised the conversation to free space in the context window. */
export const ContextCompacted = z.strictObject({
  type: z.literal('context.compacted'),
  before: tokens.describe('Tokens in the context window before.'),
  after: tokens.describe('Tokens in the context window after.'),
  trigger: z.string().optional().describe('The reason that the agent reports, such as `auto` or `manual`.'),
})
export type ContextCompacted = types.ContextCompacted

/**
 * Token counts and cost. `step` is one model call of the main thread. `subagent` is the usage of a sub-agent since its
 * last report; without `subagentId`, of several sub-agents together. `turn` is the total of a turn, steps and
 * sub-agents included: at most one per turn, never added to the others. A `subagent` report outside a turn belongs to
 * no turn's total; it is added to the usage of the session directly. `context` is how full the window is.
 */
export const UsageReported = z.strictObject({
  type: z.literal('usage.reported'),
  scope: z.enum(['step', 'turn', 'subagent', 'context']).describe('The work that the counts cover.'),
  ...Usage.shape,
  subagentId: z.string().optional().describe('The sub-agent of a `subagent` report.'),
  model: z.string().optional().describe('The model that was called.'),
  contextUsed: tokens.describe('Tokens in the context window.'),
  contextSize: tokens.describe('Tokens that fit in the context window.'),
  source: z
    .enum(['agent', 'computed'])
    .describe(
      '`agent`: the agent reported the counts; `computed`: Mainstem calculated them from other reports.',
    ),
})
export type UsageReported = types.UsageReported

/** The agent waits for a limit of its model provider: it retries a call, or a rate limit or a quota applies. */
export const LimitReported = z.strictObject({
  type: z.literal('limit.reported'),
  kind: z
    .enum(['retry', 'rate', 'quota'])
    .describe(
      '`retry`: the agent repeats a call; `rate`: how much of a limit is used; `quota`: the limit is used up, and calls are refused until it resets.',
    ),
  attempt: z.int().nonnegative().optional().describe('The number of this retry.'),
  of: z.int().nonnegative().optional().describe('The largest number of retries.'),
  delayMs: z.number().nonnegative().optional().describe('Milliseconds until the retry.'),
  status: z.int().optional().describe("The HTTP status of the model's API."),
  message: z.string().optional().describe("The agent's message."),
  resetsAt: z
    .int()
    .optional()
    .describe('When the limit resets or the call is retried, in milliseconds since 1970.'),
  usedPercent: z.number().optional().describe('How much of the limit is used, in percent.'),
  account: z
    .string()
    .optional()
    .describe(
      'Who is billed for calls under this limit, such as the plan of a subscription, as the agent names it.',
    ),
})
export type LimitReported = types.LimitReported

/** Identifies a notice. */
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
  'goal_changed',
  'secrets_masked',
  'process_survived',
  'agent_silent',
  'exit_forced',
  'message_truncated',
  'answer_invalid',
  'events_missing',
  'not_continued',
  'reattached',
])
export type NoticeCode = types.NoticeCode

/** A warning. It ends neither the turn nor the session. */
export const NoticeRaised = z.strictObject({
  type: z.literal('notice.raised'),
  level: z.enum(['info', 'warning', 'error']).describe('The severity.'),
  code: NoticeCode.describe('Identifies the notice; branch on it.'),
  message: z.string().describe('The notice for people.'),
  data: z.unknown().optional().describe('Details; their shape depends on `code`.'),
})
export type NoticeRaised = types.NoticeRaised

/** A line that the process wrote outside its protocol, such as a log line on stderr. */
export const OutputWritten = z.strictObject({
  type: z.literal('output.written'),
  stream: z.enum(['stdout', 'stderr']).describe('The stream that the line was written to.'),
  line: z.string().describe('The line, without its line break.'),
})
export type OutputWritten = types.OutputWritten

/** A frame of the agent that Mainstem has no rule for, kept whole: as its text, or as a blob. */
export const NativeUnmapped = z.strictObject({
  type: z.literal('native.unmapped'),
  nativeType: z.string().describe("The agent's own type of the frame."),
  frame: z.string().optional().describe('The text of the frame.'),
  blob: BlobRef.optional().describe('The frame, if it is too large for an event.'),
})
export type NativeUnmapped = types.NativeUnmapped
