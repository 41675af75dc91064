// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type {
  MessageDiscarded,
  TextCompleted,
  TextDelta,
  ThinkingCompleted,
  ThinkingDelta,
} from './events/message.types.ts'
import type {
  ContextCompacted,
  LimitReported,
  NativeUnmapped,
  NoticeRaised,
  OutputWritten,
  UsageReported,
} from './events/report.types.ts'
import type { RequestOpened, RequestResolved, RequestWithdrawn } from './events/request.types.ts'
import type {
  SessionEnded,
  SessionHandedOver,
  SessionStarted,
  SessionUpdated,
} from './events/session.types.ts'
import type {
  FileChanged,
  ToolCompleted,
  ToolInputDelta,
  ToolProgressed,
  ToolStarted,
  ToolUpdated,
} from './events/tool.types.ts'
import type { TurnCompleted, TurnQueued, TurnStarted, TurnSteered } from './events/turn.types.ts'
import type {
  HookCompleted,
  HookStarted,
  PlanUpdated,
  SubagentCompleted,
  SubagentProgressed,
  SubagentStarted,
} from './events/work.types.ts'

/** An event of a session. Switch on `type` to narrow it. Unknown fields are refused. */
export type Event =
  | SessionStarted
  | SessionUpdated
  | SessionHandedOver
  | SessionEnded
  | TurnQueued
  | TurnStarted
  | TurnSteered
  | TurnCompleted
  | TextDelta
  | TextCompleted
  | ThinkingDelta
  | ThinkingCompleted
  | MessageDiscarded
  | ToolInputDelta
  | ToolStarted
  | ToolUpdated
  | ToolProgressed
  | ToolCompleted
  | FileChanged
  | PlanUpdated
  | SubagentStarted
  | SubagentProgressed
  | SubagentCompleted
  | HookStarted
  | HookCompleted
  | RequestOpened
  | RequestResolved
  | RequestWithdrawn
  | ContextCompacted
  | UsageReported
  | LimitReported
  | NoticeRaised
  | OutputWritten
  | NativeUnmapped
