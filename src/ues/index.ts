export type {
  AgentEvent,
  AgentEventType,
  BaseEvent,
  DonePayload,
  InitPayload,
  PermissionRequestPayload,
  ToolResultPayload,
  ToolUsePayload,
} from '../dialects/ues/ues-event.ts'
export type {
  DoneEvent,
  DoneUsage,
  ErrorEvent,
  ErrorPayload,
  ExtensionEvent,
  InitEvent,
  PermissionRequestEvent,
  TextDeltaEvent,
  TextDeltaPayload,
  TextEvent,
  TextPayload,
  ThinkingEvent,
  ThinkingPayload,
  ToolResultEvent,
  ToolUseEvent,
} from '../dialects/ues/ues-event.types.ts'
export type { Image, McpServer } from '../model/index.ts'
export type { AgentSettings } from '../sessions/deps.ts'
export type {
  AgentAdapter,
  AgentOptions,
  CanUseTool,
  PermissionMode,
  PermissionTier,
  ToolCallInfo,
} from './adapter.ts'
export { acp, claudeCode, codex, echo, gemini, opencode } from './adapters.ts'
export type { AgentId } from './agent-id.types.ts'
export { type ParallelTask, runParallel } from './parallel.ts'
