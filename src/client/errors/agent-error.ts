import { messageOf, textOf, typeOf } from './error-type.ts'

/** The kinds of failure. Branch on them. */
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

/** Details of an `AgentError`. */
export interface AgentErrorDetails {
  /** The original error as text. */
  nativeError?: string
  /** The agent that failed. */
  agentType?: string
  /** The original error. */
  cause?: unknown
}

/** The error that `AgentClient` and its sessions throw. Branch on `type`. */
export class AgentError extends Error {
  /** The kind of failure. */
  readonly type: AgentErrorType
  /** The original error as text. */
  readonly nativeError: string | undefined
  /** The agent that failed. */
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

/** Converts any error to an `AgentError`: one of ours, the `code` of an event, an agent's own, or one of the platform. */
export function translateError(nativeError: unknown, agentType?: string): AgentError {
  if (nativeError instanceof AgentError) return nativeError
  return new AgentError(typeOf(nativeError), messageOf(nativeError), {
    nativeError: textOf(nativeError),
    ...(agentType !== undefined && { agentType }),
    cause: nativeError,
  })
}
