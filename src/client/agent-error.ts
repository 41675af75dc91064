import type { ErrorCode } from '../model/index.ts'

/** Every kind of failure that this face tells apart. */
export const AgentErrorType = {
  connectionFailed: 'connectionFailed',
  authenticationFailed: 'authenticationFailed',
  sessionNotFound: 'sessionNotFound',
  permissionDenied: 'permissionDenied',
  toolExecutionFailed: 'toolExecutionFailed',
  timeout: 'timeout',
  protocolError: 'protocolError',
  unknown: 'unknown',
} as const
export type AgentErrorType = keyof typeof AgentErrorType

export interface AgentErrorDetails {
  /** What was said where it went wrong. */
  nativeError?: string
  agentType?: string
  cause?: unknown
}

/** The one error of `AgentClient` and its sessions: callers branch on `type`. */
export class AgentError extends Error {
  readonly type: AgentErrorType
  readonly nativeError: string | undefined
  readonly agentType: string | undefined

  constructor(
    type: AgentErrorType,
    message: string,
    { nativeError, agentType, cause }: AgentErrorDetails = {},
  ) {
    super(message, { cause })
    this.name = 'AgentError'
    this.type = type
    this.nativeError = nativeError
    this.agentType = agentType
  }
}

/** The codes of a server in the words of this face. */
const TYPES: Readonly<Record<ErrorCode, AgentErrorType>> = {
  invalid_request: 'protocolError',
  unsupported_media: 'protocolError',
  unauthorized: 'authenticationFailed',
  forbidden: 'permissionDenied',
  session_not_found: 'sessionNotFound',
  agent_not_found: 'unknown',
  request_not_found: 'unknown',
  not_found: 'sessionNotFound',
  conflict: 'protocolError',
  cursor_gone: 'protocolError',
  too_large: 'protocolError',
  idempotency_conflict: 'protocolError',
  unsupported_option: 'protocolError',
  agent_not_ready: 'unknown',
  authentication_failed: 'authenticationFailed',
  connection_failed: 'connectionFailed',
  protocol_error: 'protocolError',
  timeout: 'timeout',
  overloaded: 'connectionFailed',
  draining: 'connectionFailed',
  storage_failed: 'connectionFailed',
  permission_denied: 'permissionDenied',
  tool_execution_failed: 'toolExecutionFailed',
  output_truncated: 'unknown',
  rate_limited: 'unknown',
  quota_exceeded: 'unknown',
  unknown: 'unknown',
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(TYPES, code)
}

/** Whatever went wrong, as this face says it: a code of ours, the `code` of an event, or what a platform throws. */
export function translateError(nativeError: unknown, agentType?: string): AgentError {
  if (nativeError instanceof AgentError) return nativeError
  const message = messageOf(nativeError)
  return new AgentError(typeOf(nativeError), message, {
    nativeError: textOf(nativeError),
    ...(agentType !== undefined && { agentType }),
    cause: nativeError,
  })
}

function typeOf(native: unknown): AgentErrorType {
  const code = snakeCase(fieldOf(native, 'code'))
  if (isErrorCode(code)) return TYPES[code]
  const name = fieldOf(native, 'name')
  if (name === 'TimeoutError') return 'timeout'
  if (name === 'SyntaxError') return 'protocolError'
  // What `fetch` throws when there is nobody, or when a body breaks off.
  if (native instanceof TypeError) return 'connectionFailed'
  return 'unknown'
}

/** Events on this face write the same codes in camel case. */
function snakeCase(code: unknown): unknown {
  return typeof code === 'string'
    ? code.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : undefined
}

function messageOf(native: unknown): string {
  for (const name of ['message', 'detail', 'error']) {
    const told = fieldOf(native, name)
    if (typeof told === 'string' && told !== '') return told
  }
  return textOf(native)
}

function textOf(native: unknown): string {
  if (native instanceof Error) return `${native.name}: ${native.message}`
  return typeof native === 'string' ? native : (JSON.stringify(native) ?? String(native))
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
