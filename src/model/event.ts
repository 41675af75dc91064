import { z } from 'zod'
import {
  MessageDiscarded,
  TextCompleted,
  TextDelta,
  ThinkingCompleted,
  ThinkingDelta,
} from './events/message.ts'
import {
  ContextCompacted,
  LimitReported,
  NativeUnmapped,
  NoticeRaised,
  OutputWritten,
  UsageReported,
} from './events/report.ts'
import { RequestOpened, RequestResolved, RequestWithdrawn } from './events/request.ts'
import { SessionEnded, SessionStarted, SessionUpdated } from './events/session.ts'
import {
  FileChanged,
  ToolCompleted,
  ToolInputDelta,
  ToolProgressed,
  ToolStarted,
  ToolUpdated,
} from './events/tool.ts'
import { TurnCompleted, TurnQueued, TurnStarted, TurnSteered } from './events/turn.ts'
import {
  HookCompleted,
  HookStarted,
  PlanUpdated,
  SubagentCompleted,
  SubagentProgressed,
  SubagentStarted,
} from './events/work.ts'

/** Every fact that can stand in a log. Strict: a field nobody declared is an error, not a surprise. */
export const Event = z.discriminatedUnion('type', [
  SessionStarted,
  SessionUpdated,
  SessionEnded,
  TurnQueued,
  TurnStarted,
  TurnSteered,
  TurnCompleted,
  TextDelta,
  TextCompleted,
  ThinkingDelta,
  ThinkingCompleted,
  MessageDiscarded,
  ToolInputDelta,
  ToolStarted,
  ToolUpdated,
  ToolProgressed,
  ToolCompleted,
  FileChanged,
  PlanUpdated,
  SubagentStarted,
  SubagentProgressed,
  SubagentCompleted,
  HookStarted,
  HookCompleted,
  RequestOpened,
  RequestResolved,
  RequestWithdrawn,
  ContextCompacted,
  UsageReported,
  LimitReported,
  NoticeRaised,
  OutputWritten,
  NativeUnmapped,
])
export type Event = z.infer<typeof Event>
export type EventType = Event['type']
