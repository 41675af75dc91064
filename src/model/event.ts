import * as z from 'zod'
import type * as types from './event.types.ts'
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
import { SessionEnded, SessionHandedOver, SessionStarted, SessionUpdated } from './events/session.ts'
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

/** An event of a session. Switch on `type` to narrow it. Unknown fields are refused. */
export const Event = z.discriminatedUnion('type', [
  SessionStarted,
  SessionUpdated,
  SessionHandedOver,
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
export type Event = types.Event

/** The name of an event, such as `tool.started`. */
export type EventType = Event['type']
