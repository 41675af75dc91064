export type {
  AgentEvent,
  AgentEventType,
  BaseEvent,
  DonePayload,
  InitPayload,
  PermissionRequestPayload,
  ToolResultPayload,
  ToolUsePayload,
} from '../dialects/ues-event.ts'
export type { AgentSettings } from '../sessions/deps.ts'
export type {
  AgentAdapter,
  AgentId,
  AgentOptions,
  CanUseTool,
  PermissionMode,
  PermissionTier,
  ToolCallInfo,
} from './adapter.ts'
export { acp, claudeCode, codex, echo, gemini, opencode } from './adapters.ts'
export { type ParallelTask, runParallel } from './parallel.ts'
