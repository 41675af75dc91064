import * as z from 'zod'
import { Outcome, ToolStatus } from '../../model/index.ts'
import { UsagePartial } from '../kit/usage-partial.ts'
import { SessionConfig, TokenUsage } from './unified-config.ts'
import type * as types from './unified-event.types.ts'
import {
  FileWrittenEvent,
  LogEntryEvent,
  NoticeRaisedEvent,
  PlanUpdatedEvent,
  ReasoningChunkEvent,
  RequestClosedEvent,
  RequestOpenedEvent,
} from './unified-extension.ts'
import { message } from './unified-message.ts'

const tokens = z.int().nonnegative()
const outcome = Outcome.exclude(['completed'])
const turnNumber = z.int().positive().describe('The number of the turn in its session, from 1.')
const toolId = z.string().describe('Identifies the tool call.')
const durationMs = tokens.describe('The duration in milliseconds.')
const nativeError = z.string().optional().describe("The agent's own error.")

const reason = {
  code: z.string().optional().describe('The error code in camel case, if the reason is known.'),
  nativeError,
}

/** The first event of a session. */
export const SessionStartedEvent = message('sessionStarted', {
  agentType: z.string().describe('The id of the agent.'),
  nativeSessionId: z.string().optional().describe("The agent's own session, if it is known by then."),
  config: SessionConfig.describe('The configuration of the session, as far as it is known.'),
})
/** A turn began. */
export const TurnStartedEvent = message('turnStarted', {
  turnNumber,
  prompt: z.string().describe('The text of the prompt.'),
})
/** A piece of text. */
export const TextChunkEvent = message('textChunk', {
  content: z.string().describe('The text.'),
  isComplete: z.boolean().describe('True for the last piece of a message.'),
})
/** A tool call with its complete input. */
export const ToolStartedEvent = message('toolStarted', {
  toolId,
  toolName: z.string().describe("The agent's own name of the tool."),
  arguments: z.record(z.string(), z.unknown()).describe('The input of the tool call.'),
})
/** Output or progress of a tool that is running. */
export const ToolProgressEvent = message('toolProgress', {
  toolId,
  output: z.string().optional().describe('The new output only.'),
  progress: z.number().min(0).max(1).optional().describe('The completed fraction, from 0 to 1.'),
})
/** A tool call failed. A `toolCompleted` with the same error follows. */
export const ToolFailedEvent = message('toolFailed', {
  toolId,
  error: z.string().describe('What happened.'),
})
/** The end of a tool call. */
export const ToolCompletedEvent = message('toolCompleted', {
  toolId,
  success: z.boolean().describe('True if the tool succeeded.'),
  result: z.unknown().optional().describe('The result of the tool.'),
  error: z.string().optional().describe('The error message.'),
  status: ToolStatus.exclude(['success']).optional().describe('How exactly the tool call did not succeed.'),
})
/** A file changed. */
export const FileChangedEvent = message('fileChanged', {
  filePath: z.string().describe('The path of the file.'),
  changeType: z.enum(['created', 'modified', 'deleted']).describe('The kind of change.'),
  diff: z.string().optional().describe('The change as a unified diff.'),
  before: z.string().optional().describe('The content before the change.'),
  after: z.string().optional().describe('The content after the change.'),
})
/** A turn succeeded. */
export const TurnCompletedEvent = message('turnCompleted', {
  turnNumber,
  usage: TokenUsage.describe('The tokens of the turn.'),
  durationMs,
  usageReported: z
    .literal(false)
    .optional()
    .describe('False if the agent reported no tokens; the zeros are then not counts.'),
  usagePartial: UsagePartial.optional(),
})
/** A turn did not succeed. */
export const TurnFailedEvent = message('turnFailed', {
  turnNumber,
  error: z.string().describe('What happened.'),
  ...reason,
  outcome: outcome.describe('The exact outcome.'),
  usage: TokenUsage.optional().describe('The tokens of the turn, if the agent reported them.'),
  usagePartial: UsagePartial.optional(),
  durationMs,
})
/** A failure outside a turn. */
export const ErrorEvent = message('error', {
  message: z.string().describe('What happened.'),
  code: z.string().describe('The error code in camel case.'),
  nativeError,
})
/** The last event of a session. */
export const SessionEndedEvent = message('sessionEnded', {
  reason: z.enum(['completed', 'failed', 'cancelled', 'timeout']).describe('Why the session ended.'),
  error: z.string().optional().describe('What happened.'),
  ...reason,
  outcome: outcome.optional().describe('The exact outcome; absent if the session completed.'),
})

/** An event of the unified protocol: the documented fields and a few of ours. Switch on `type` to narrow it. */
export const AgentEvent = z.discriminatedUnion('type', [
  SessionStartedEvent,
  TurnStartedEvent,
  TextChunkEvent,
  ToolStartedEvent,
  ToolProgressEvent,
  ToolFailedEvent,
  ToolCompletedEvent,
  FileChangedEvent,
  TurnCompletedEvent,
  TurnFailedEvent,
  RequestOpenedEvent,
  RequestClosedEvent,
  ReasoningChunkEvent,
  PlanUpdatedEvent,
  FileWrittenEvent,
  NoticeRaisedEvent,
  LogEntryEvent,
  ErrorEvent,
  SessionEndedEvent,
])
export type AgentEvent = types.AgentEvent

type BodyOf<Emitted> = Emitted extends AgentEvent ? Omit<Emitted, 'id' | 'sessionId' | 'timestamp'> : never

/** A message before it is stamped. */
export type Body = BodyOf<AgentEvent>
