import type {
  AgentEvent,
  FileChangedEvent,
  SessionEndedEvent,
} from '../dialects/unified/unified-event.types.ts'
import { AgentError } from './errors/agent-error.ts'

/** The type of an event, such as `toolStarted`. */
export type AgentEventType = AgentEvent['type']

/** How a file changed. */
export const FileChangeType = {
  created: 'created',
  modified: 'modified',
  deleted: 'deleted',
} as const satisfies { [Type in FileChangedEvent['changeType']]: Type }
export type FileChangeType = FileChangedEvent['changeType']

/** Why a session ended. */
export const SessionEndReason = {
  /** The last turn succeeded. */
  completed: 'completed',
  /** The last turn failed. */
  failed: 'failed',
  /** The session was cancelled. */
  cancelled: 'cancelled',
  /** A time limit was exceeded. */
  timeout: 'timeout',
} as const satisfies { [Reason in SessionEndedEvent['reason']]: Reason }
export type SessionEndReason = SessionEndedEvent['reason']

type Of<Type extends AgentEventType> = Extract<AgentEvent, { type: Type }>

type Required<Type extends AgentEventType> = { readonly [T in Type]: readonly (keyof Of<T> & string)[] }

type ExtensionType =
  | 'requestOpened'
  | 'requestClosed'
  | 'reasoningChunk'
  | 'planUpdated'
  | 'fileWritten'
  | 'noticeRaised'
  | 'logEntry'

/** The fields that the document requires for each of its types, besides those of all events. */
const DOCUMENTED: Required<Exclude<AgentEventType, ExtensionType>> = {
  sessionStarted: ['agentType'],
  sessionEnded: ['reason'],
  turnStarted: [],
  turnCompleted: ['turnNumber', 'usage'],
  turnFailed: [],
  textChunk: ['content'],
  toolStarted: ['toolId', 'toolName'],
  toolProgress: ['toolId'],
  toolCompleted: ['toolId', 'success'],
  toolFailed: ['toolId'],
  fileChanged: ['filePath', 'changeType'],
  error: [],
}

const REQUIRED: Required<AgentEventType> = {
  ...DOCUMENTED,
  requestOpened: ['requestId', 'inputDigest'],
  requestClosed: ['requestId'],
  reasoningChunk: ['content'],
  planUpdated: ['items'],
  fileWritten: ['filePath'],
  noticeRaised: ['level', 'message'],
  logEntry: ['event'],
}

const ENVELOPE = ['id', 'sessionId', 'timestamp'] as const

/** The document of the protocol has this type. */
export function isDocumented({ type }: AgentEvent): boolean {
  return Object.hasOwn(DOCUMENTED, type)
}

/** Parses a message. Returns undefined for types that this version does not know; clients ignore those. */
export function parseEvent(text: string): AgentEvent | undefined {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || !('type' in value) || typeof value.type !== 'string')
    throw new AgentError('protocolError', 'the server sent a message that is not an event', {
      nativeError: text,
    })
  if (!Object.hasOwn(REQUIRED, value.type)) return undefined
  if (isEvent(value)) return value
  throw new AgentError('protocolError', `the server sent a ${value.type} event without its required fields`, {
    nativeError: text,
  })
}

function isEvent(value: object): value is AgentEvent {
  const type: keyof typeof REQUIRED = Reflect.get(value, 'type')
  return (
    ENVELOPE.every((name) => typeof Reflect.get(value, name) === 'string') &&
    REQUIRED[type].every((name) => Reflect.get(value, name) !== undefined)
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AgentError('protocolError', 'the server sent a message that is not JSON', {
      nativeError: text,
      cause,
    })
  }
}
