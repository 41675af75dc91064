export type { TokenUsage } from '../dialects/unified-config.types.ts'
export type {
  AgentEvent,
  ErrorEvent,
  FileChangedEvent,
  SessionEndedEvent,
  SessionStartedEvent,
  TextChunkEvent,
  ToolCompletedEvent,
  ToolFailedEvent,
  ToolProgressEvent,
  ToolStartedEvent,
  TurnCompletedEvent,
  TurnFailedEvent,
  TurnStartedEvent,
} from '../dialects/unified-event.types.ts'
export type {
  FileWrittenEvent,
  LogEntryEvent,
  NoticeRaisedEvent,
  PlanUpdatedEvent,
  ReasoningChunkEvent,
  RequestClosedEvent,
  RequestOpenedEvent,
} from '../dialects/unified-extension.types.ts'
export { isForPerson } from '../model/for-person.ts'
export type {
  Entry,
  Event,
  EventType,
  FileChanged,
  Outcome,
  Policy,
  RequestAnswer,
  RequestOpened,
  SessionRecord,
  Usage,
} from '../model/index.ts'
export { MainstemError } from '../model/mainstem-error.ts'
export { offeredScopes } from '../model/offered-scopes.ts'
export {
  AgentClient,
  type AgentClientOptions,
  type ClientConfig,
  type CreateSession,
  type ResumeSession,
} from './agent-client.ts'
export { AgentError, type AgentErrorDetails, AgentErrorType, translateError } from './agent-error.ts'
export { type ApprovalField, approvalFields, escapeInvisible } from './approval-fields.ts'
export { CancellableSession, CancelToken } from './cancellable-session.ts'
export { type AgentRequest, AgentType, ApprovalMode, SandboxMode, type SessionConfig } from './config.ts'
export type { ConnectionOptions, HttpResponse } from './connection.ts'
export { type AgentEventType, FileChangeType, SessionEndReason } from './event.ts'
export { EventBuffer, type EventBufferOptions, type Overflow } from './event-buffer.ts'
export { FallbackTransport } from './fallback-transport.ts'
export { HttpTransport, type PollingOptions } from './http-transport.ts'
export { MainstemClient } from './mainstem-client.ts'
export type {
  AgentInfo,
  BeginSession,
  BegunSession,
  ConnectionState,
  DailyUsage,
  EntriesOptions,
  EntryPage,
  FramePage,
  FrameQuery,
  ImportedSession,
  LiveEntry,
  LiveOptions,
  MainstemClientOptions,
  ModeChange,
  OpenRequest,
  PageQuery,
  RawFrame,
  SearchHit,
  SearchResult,
  ServerInfo,
  ServerNode,
  SessionPage,
  SessionQuery,
  SignIn,
  UsageQuery,
  UsageReport,
  UsageTotals,
} from './mainstem-types.ts'
export { type MockOptions, MockTransport } from './mock-transport.ts'
export type { AdaptedSession, NativeRequest, ProtocolAdapter, TranslatedConfig } from './protocol-adapter.ts'
export type { HttpOptions } from './rest.ts'
export type { RetryOptions } from './resume.ts'
export { selectTransport } from './select-transport.ts'
export type { Read, ReadOptions, Session } from './session.ts'
export { SseTransport } from './sse-transport.ts'
export { type Activity, activityOf } from './timeline/activity.ts'
export { applyEntry } from './timeline/apply-entry.ts'
export type {
  EndItem,
  FileItem,
  MessageItem,
  NoticeItem,
  OutcomeItem,
  OutputItem,
  PlanListItem,
  PromptItem,
  RequestItem,
  Subagent,
  TimelineItem,
  ToolItem,
} from './timeline/items.ts'
export {
  newTimeline,
  type RunningTurn,
  type SessionFacts,
  subagentName,
  type Timeline,
} from './timeline/timeline.ts'
export type { Timers } from './timers.ts'
export type {
  CreatedSession,
  CreateOptions,
  Cursor,
  Delivery,
  SessionState,
  SessionSummary,
  Transport,
} from './transport.ts'
export { type WebSocketOptions, WebSocketTransport } from './websocket-transport.ts'
