// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { UsagePartial } from '../kit/usage-partial.types.ts'
import type { SessionConfig, TokenUsage } from './unified-config.types.ts'
import type {
  FileWrittenEvent,
  LogEntryEvent,
  NoticeRaisedEvent,
  PlanUpdatedEvent,
  ReasoningChunkEvent,
  RequestClosedEvent,
  RequestOpenedEvent,
} from './unified-extension.types.ts'

/** The first event of a session. */
export type SessionStartedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'sessionStarted'
  /** The id of the agent. */
  agentType: string
  /** The agent's own session, if it is known by then. */
  nativeSessionId?: string | undefined
  /** The configuration of the session, as far as it is known. */
  config: SessionConfig
}

/** A turn began. */
export type TurnStartedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'turnStarted'
  /** The number of the turn in its session, from 1. */
  turnNumber: number
  /** The text of the prompt. */
  prompt: string
}

/** A piece of text. */
export type TextChunkEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'textChunk'
  /** The text. */
  content: string
  /** True for the last piece of a message. */
  isComplete: boolean
}

/** A tool call with its complete input. */
export type ToolStartedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'toolStarted'
  /** Identifies the tool call. */
  toolId: string
  /** The agent's own name of the tool. */
  toolName: string
  /** The input of the tool call. */
  arguments: Record<string, unknown>
}

/** Output or progress of a tool that is running. */
export type ToolProgressEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'toolProgress'
  /** Identifies the tool call. */
  toolId: string
  /** The new output only. */
  output?: string | undefined
  /** The completed fraction, from 0 to 1. */
  progress?: number | undefined
}

/** A tool call failed. A `toolCompleted` with the same error follows. */
export type ToolFailedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'toolFailed'
  /** Identifies the tool call. */
  toolId: string
  /** What happened. */
  error: string
}

/** The end of a tool call. */
export type ToolCompletedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'toolCompleted'
  /** Identifies the tool call. */
  toolId: string
  /** True if the tool succeeded. */
  success: boolean
  /** The result of the tool. */
  result?: unknown
  /** The error message. */
  error?: string | undefined
  /** How exactly the tool call did not succeed. */
  status?: 'error' | 'denied' | 'cancelled' | 'unknown' | undefined
}

/** A file changed. */
export type FileChangedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'fileChanged'
  /** The path of the file. */
  filePath: string
  /** The kind of change. */
  changeType: 'created' | 'modified' | 'deleted'
  /** The change as a unified diff. */
  diff?: string | undefined
  /** The content before the change. */
  before?: string | undefined
  /** The content after the change. */
  after?: string | undefined
}

/** A turn succeeded. */
export type TurnCompletedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'turnCompleted'
  /** The number of the turn in its session, from 1. */
  turnNumber: number
  /** The tokens of the turn. */
  usage: TokenUsage
  /** The duration in milliseconds. */
  durationMs: number
  /** False if the agent reported no tokens; the zeros are then not counts. */
  usageReported?: false | undefined
  /**
   * True if some model calls are missing because the agent does not report them. Each count is then a
   * minimum.
   */
  usagePartial?: UsagePartial | undefined
}

/** A turn did not succeed. */
export type TurnFailedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'turnFailed'
  /** The number of the turn in its session, from 1. */
  turnNumber: number
  /** What happened. */
  error: string
  /** The error code in camel case, if the reason is known. */
  code?: string | undefined
  /** The agent's own error. */
  nativeError?: string | undefined
  /** The exact outcome. */
  outcome:
    | 'denied'
    | 'refused'
    | 'max_steps'
    | 'max_budget'
    | 'timeout'
    | 'interrupted'
    | 'failed'
    | 'crashed'
    | 'lost'
  /** The tokens of the turn, if the agent reported them. */
  usage?: TokenUsage | undefined
  /**
   * True if some model calls are missing because the agent does not report them. Each count is then a
   * minimum.
   */
  usagePartial?: UsagePartial | undefined
  /** The duration in milliseconds. */
  durationMs: number
}

/** A failure outside a turn. */
export type ErrorEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'error'
  /** What happened. */
  message: string
  /** The error code in camel case. */
  code: string
  /** The agent's own error. */
  nativeError?: string | undefined
}

/** The last event of a session. */
export type SessionEndedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'sessionEnded'
  /** Why the session ended. */
  reason: 'completed' | 'failed' | 'cancelled' | 'timeout'
  /** What happened. */
  error?: string | undefined
  /** The error code in camel case, if the reason is known. */
  code?: string | undefined
  /** The agent's own error. */
  nativeError?: string | undefined
  /** The exact outcome; absent if the session completed. */
  outcome?:
    | 'denied'
    | 'refused'
    | 'max_steps'
    | 'max_budget'
    | 'timeout'
    | 'interrupted'
    | 'failed'
    | 'crashed'
    | 'lost'
    | undefined
}

/**
 * An event of the unified protocol: the documented fields and a few of ours. Switch on `type` to narrow it.
 */
export type AgentEvent =
  | SessionStartedEvent
  | TurnStartedEvent
  | TextChunkEvent
  | ToolStartedEvent
  | ToolProgressEvent
  | ToolFailedEvent
  | ToolCompletedEvent
  | FileChangedEvent
  | TurnCompletedEvent
  | TurnFailedEvent
  | RequestOpenedEvent
  | RequestClosedEvent
  | ReasoningChunkEvent
  | PlanUpdatedEvent
  | FileWrittenEvent
  | NoticeRaisedEvent
  | LogEntryEvent
  | ErrorEvent
  | SessionEndedEvent
