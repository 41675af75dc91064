import type { AgentEvent } from '../dialects/unified-event.types.ts'
import { AgentError } from './agent-error.ts'

/** The type of an event, such as `toolStarted`. */
export type AgentEventType = AgentEvent['type']

type Of<Type extends AgentEventType> = Extract<AgentEvent, { type: Type }>

/** The fields that the document requires for each type, besides those of all events. */
const REQUIRED: { readonly [Type in AgentEventType]: readonly (keyof Of<Type> & string)[] } = {
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
  requestOpened: ['requestId', 'inputDigest'],
  requestClosed: ['requestId'],
  error: [],
}

const ENVELOPE = ['id', 'sessionId', 'timestamp'] as const

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
