// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** Identifies an error. The set is closed: branch on it. */
export type ErrorCode =
  | 'invalid_request'
  | 'unsupported_media'
  | 'unauthorized'
  | 'forbidden'
  | 'session_not_found'
  | 'agent_not_found'
  | 'request_not_found'
  | 'not_found'
  | 'conflict'
  | 'cursor_gone'
  | 'too_large'
  | 'idempotency_conflict'
  | 'unsupported_option'
  | 'agent_not_ready'
  | 'authentication_failed'
  | 'connection_failed'
  | 'protocol_error'
  | 'timeout'
  | 'overloaded'
  | 'draining'
  | 'fenced'
  | 'storage_failed'
  | 'permission_denied'
  | 'tool_execution_failed'
  | 'output_truncated'
  | 'context_overflow'
  | 'rate_limited'
  | 'quota_exceeded'
  | 'node_lost'
  | 'unknown'

/** An error as events carry it. */
export type ErrorInfo = {
  /** Identifies the error; branch on it. */
  code: ErrorCode
  /** What happened. */
  message: string
  /** How to fix it; if absent, the advice of the code applies. */
  advice?: string | undefined
  /** The agent's own error. */
  native?: unknown
}
