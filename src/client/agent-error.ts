import { messageOf, textOf, typeOf } from './error-type.ts'

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

/** Translates any failure: a code of ours, the `code` of an event, an agent's own error, or what a platform throws. */
export function translateError(nativeError: unknown, agentType?: string): AgentError {
  if (nativeError instanceof AgentError) return nativeError
  return new AgentError(typeOf(nativeError), messageOf(nativeError), {
    nativeError: textOf(nativeError),
    ...(agentType !== undefined && { agentType }),
    cause: nativeError,
  })
}
