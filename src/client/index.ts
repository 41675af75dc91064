export type {
  AgentEvent,
  ErrorEvent,
  FileChangedEvent,
  RequestClosedEvent,
  RequestOpenedEvent,
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
export type { Entry, Event, EventType, Policy, SessionRecord, Usage } from '../model/index.ts'
export { MainstemError } from '../model/mainstem-error.ts'
export {
  AgentClient,
  type AgentClientOptions,
  type ClientConfig,
  type CreateSession,
  type ResumeSession,
} from './agent-client.ts'
export { AgentError, type AgentErrorDetails, AgentErrorType, translateError } from './agent-error.ts'
export { type AgentRequest, AgentType, ApprovalMode, SandboxMode, type SessionConfig } from './config.ts'
export type { ConnectionOptions, HttpResponse } from './connection.ts'
export type { AgentEventType } from './event.ts'
export { EventBuffer, type EventBufferOptions, type Overflow } from './event-buffer.ts'
export { FallbackTransport } from './fallback-transport.ts'
export { HttpTransport, type PollingOptions } from './http-transport.ts'
export { MainstemClient, type MainstemClientOptions } from './mainstem-client.ts'
export type {
  AgentInfo,
  BeginSession,
  BegunSession,
  ConnectionState,
  DailyUsage,
  EntriesOptions,
  EntryPage,
  ImportedSession,
  LiveEntry,
  LiveOptions,
  ModeChange,
  OpenRequest,
  PageQuery,
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
export type { AdaptedSession, NativeRequest, ProtocolAdapter } from './protocol-adapter.ts'
export type { HttpOptions } from './rest.ts'
export type { RetryOptions } from './resume.ts'
export { selectTransport } from './select-transport.ts'
export type { Read, ReadOptions, Session } from './session.ts'
export { SseTransport } from './sse-transport.ts'
export type { Timers } from './timers.ts'
export type {
  CreateOptions,
  Cursor,
  Delivery,
  RequestAnswer,
  SessionState,
  SessionSummary,
  Transport,
} from './transport.ts'
export { type WebSocketOptions, WebSocketTransport } from './websocket-transport.ts'
