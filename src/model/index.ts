export type { AgentId } from './agent-id.types.ts'
export { BlobRef, type BlobSink, type BlobWriter } from './blob.ts'
export { Entry } from './entry.ts'
export { Event, type EventType } from './event.ts'
export type {
  MessageDiscarded,
  TextCompleted,
  TextDelta,
  ThinkingCompleted,
  ThinkingDelta,
} from './events/message.types.ts'
export type {
  ContextCompacted,
  LimitReported,
  NativeUnmapped,
  NoticeCode,
  NoticeRaised,
  OutputWritten,
  UsageReported,
} from './events/report.types.ts'
export type { RequestOpened, RequestResolved, RequestWithdrawn } from './events/request.types.ts'
export type {
  ConfigOption,
  Named,
  SessionEnded,
  SessionStarted,
  SessionUpdated,
} from './events/session.types.ts'
export type {
  FileChanged,
  ToolCompleted,
  ToolInputDelta,
  ToolProgressed,
  ToolStarted,
  ToolUpdated,
} from './events/tool.types.ts'
export type {
  TurnCompleted,
  TurnExit,
  TurnQueued,
  TurnStarted,
  TurnSteered,
} from './events/turn.types.ts'
export type {
  HookCompleted,
  HookStarted,
  PlanItem,
  PlanUpdated,
  SubagentCompleted,
  SubagentProgressed,
  SubagentStarted,
} from './events/work.types.ts'
export { NativeSessionId, OUTSIDE_ID, SessionId, SessionName } from './ids.ts'
export { adviceFor, ERRORS, isDamaged, jsonRpcCode, toMainstemError } from './outcome/error-table.ts'
export { ErrorCode, ErrorInfo } from './outcome/errors.ts'
export { MainstemError } from './outcome/mainstem-error.ts'
export { type Cause, decide, type Evidence, Outcome, type Verdict } from './outcome/outcome.ts'
export { exitCodeOf, FACES } from './outcome/outcome-faces.ts'
export { AnswerCommand, Applied, BoundAnswer, Command, RequestAnswer } from './request/command.ts'
export type {
  CloseCommand,
  InterruptCommand,
  OpenCommand,
  PromptCommand,
  SetModelCommand,
  SetPolicyCommand,
  SteerCommand,
} from './request/command.types.ts'
export {
  Answers,
  ClientKind,
  Decider,
  Decision,
  Question,
  RequestKind,
  RequestOption,
  Scope,
} from './request/request.ts'
export type { QuestionOption } from './request/request.types.ts'
export { DeniedBy, Location, ToolKind, ToolStatus } from './request/tool.ts'
export { SCHEMA_VERSION } from './schema-version.ts'
export { Capabilities, LaunchKind } from './session/capability.ts'
export { Continuation, ContinuationCaps, OnLimit } from './session/continuation.ts'
export { Coverage } from './session/coverage.ts'
export { Image, McpServer, ModelName, ModeName, SessionOptions, type ToolHook } from './session/options.ts'
export type { Isolation, SessionHooks, SystemPrompt } from './session/options.types.ts'
export { Approval, DEFAULT_POLICY, Policy, Sandbox } from './session/policy.ts'
export type { ToolPolicy } from './session/policy.types.ts'
export { SessionRecord } from './session/record.ts'
export type { DeliveredTurns, QueuedPrompt } from './session/record.types.ts'
export { Usage } from './usage.ts'
export { addUsage, isZeroUsage, subtractUsage } from './usage-sum.ts'
