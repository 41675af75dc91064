import type { ErrorCode } from '../../model/index.ts'
import type { AgentErrorType } from './agent-error.ts'

/** The kind of failure for every error code of a server. */
export const TYPES: Readonly<Record<ErrorCode, AgentErrorType>> = {
  invalid_request: 'protocolError',
  unsupported_media: 'protocolError',
  unauthorized: 'authenticationFailed',
  forbidden: 'permissionDenied',
  session_not_found: 'sessionNotFound',
  agent_not_found: 'protocolError',
  request_not_found: 'protocolError',
  not_found: 'sessionNotFound',
  conflict: 'protocolError',
  cursor_gone: 'protocolError',
  too_large: 'protocolError',
  idempotency_conflict: 'protocolError',
  unsupported_option: 'protocolError',
  agent_not_ready: 'connectionFailed',
  authentication_failed: 'authenticationFailed',
  connection_failed: 'connectionFailed',
  protocol_error: 'protocolError',
  timeout: 'timeout',
  overloaded: 'connectionFailed',
  draining: 'connectionFailed',
  fenced: 'connectionFailed',
  storage_failed: 'connectionFailed',
  permission_denied: 'permissionDenied',
  tool_execution_failed: 'toolExecutionFailed',
  output_truncated: 'protocolError',
  context_overflow: 'protocolError',
  rate_limited: 'connectionFailed',
  quota_exceeded: 'permissionDenied',
  node_lost: 'connectionFailed',
  unknown: 'unknown',
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(TYPES, code)
}

/** The error code for an HTTP status, for servers that send no code. */
export const STATUSES: ReadonlyMap<number, ErrorCode> = new Map([
  [400, 'invalid_request'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [408, 'timeout'],
  [409, 'conflict'],
  [410, 'cursor_gone'],
  [413, 'too_large'],
  [415, 'unsupported_media'],
  [422, 'unsupported_option'],
  [429, 'overloaded'],
  [502, 'connection_failed'],
  [503, 'overloaded'],
  [504, 'timeout'],
])
