export type { TokenUsage } from '../dialects/unified/unified-config.types.ts'
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
} from '../dialects/unified/unified-event.types.ts'
export type {
  FileWrittenEvent,
  LogEntryEvent,
  NoticeRaisedEvent,
  PlanUpdatedEvent,
  ReasoningChunkEvent,
  RequestClosedEvent,
  RequestOpenedEvent,
} from '../dialects/unified/unified-extension.types.ts'
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
export { isFailed } from '../model/outcome/is-failed.ts'
export { MainstemError } from '../model/outcome/mainstem-error.ts'
export { isForPerson } from '../model/request/for-person.ts'
export { offeredScopes } from '../model/request/offered-scopes.ts'
export type { NewWebhook, Webhook, WebhookDelivery, WebhookPayload } from '../model/webhook.types.ts'
export {
  AgentClient,
  type AgentClientOptions,
  type ClientConfig,
  type CreateSession,
  type ResumeSession,
} from './agent-client.ts'
export { type ApprovalField, approvalFields, escapeInvisible } from './approval-fields.ts'
export type { AuditPage, AuditSearch } from './audit-types.ts'
export {
  type CallCommand,
  type CallDescription,
  commandOf,
  describeCall,
  type McpName,
  mcpName,
  relativePath,
  withRelativePaths,
} from './calls/describe-call.ts'
export { type UnifiedDiffLine, unifiedDiffLines } from './calls/diff-lines.ts'
export { type ProposedChange, type ProposedChanges, proposedChanges } from './calls/proposed-changes.ts'
export { requestText } from './calls/request-text.ts'
export { CancellableSession, CancelToken } from './cancellable-session.ts'
export { type AgentRequest, AgentType, ApprovalMode, SandboxMode, type SessionConfig } from './config.ts'
export { AgentError, type AgentErrorDetails, AgentErrorType, translateError } from './errors/agent-error.ts'
export { type AgentEventType, FileChangeType, SessionEndReason } from './event.ts'
export { EventBuffer, type EventBufferOptions, type Overflow } from './event-buffer.ts'
export { loginCode } from './login-code.ts'
export { MainstemClient } from './mainstem-client.ts'
export type {
  BeginSession,
  BegunSession,
  ConnectionState,
  EntriesOptions,
  EntryPage,
  FramePage,
  FrameQuery,
  HandOver,
  ImportedSession,
  LiveEntry,
  LiveOptions,
  MainstemClientOptions,
  ModeChange,
  OpenRequest,
  PageQuery,
  RawFrame,
  SessionPage,
  SessionQuery,
} from './mainstem-types.ts'
export type { AdaptedSession, NativeRequest, ProtocolAdapter, TranslatedConfig } from './protocol-adapter.ts'
export type { HttpOptions } from './rest.ts'
export type { RetryOptions } from './resume.ts'
export type { FoundFileNames, SearchHit, SearchResult } from './search-types.ts'
export type {
  AgentInfo,
  DailyUsage,
  Login,
  NamedToken,
  NewLogin,
  NewToken,
  ServerInfo,
  ServerNode,
  ServerNotice,
  SignIn,
  UsageQuery,
  UsageReport,
  UsageTotals,
} from './server-types.ts'
export type { Read, ReadOptions, Session } from './session.ts'
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
export { continuationText, quotaText } from './timeline/notice-texts.ts'
export {
  newTimeline,
  type RunningTurn,
  type SessionFacts,
  subagentName,
  type Timeline,
} from './timeline/timeline.ts'
export type { Timers } from './timers.ts'
export type { ConnectionOptions, HttpResponse } from './transports/connection.ts'
export { FallbackTransport } from './transports/fallback-transport.ts'
export { HttpTransport, type PollingOptions } from './transports/http-transport.ts'
export { type MockOptions, MockTransport } from './transports/mock-transport.ts'
export { selectTransport } from './transports/select-transport.ts'
export { SseTransport } from './transports/sse-transport.ts'
export type {
  CreatedSession,
  CreateOptions,
  Cursor,
  Delivery,
  SessionState,
  SessionSummary,
  Transport,
} from './transports/transport.ts'
export { type WebSocketOptions, WebSocketTransport } from './transports/websocket-transport.ts'
export type {
  AddedWebhook,
  DeliverySearch,
  WebhookClient,
  WebhookTest,
} from './webhook-client.ts'
