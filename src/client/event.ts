import type { AgentEvent } from '../dialects/unified-event.ts'
import { AgentError } from './agent-error.ts'

export type { AgentEvent }
export type AgentEventType = AgentEvent['type']

type Of<Type extends AgentEventType> = Extract<AgentEvent, { type: Type }>

export type SessionStartedEvent = Of<'sessionStarted'>
export type SessionEndedEvent = Of<'sessionEnded'>
export type TurnStartedEvent = Of<'turnStarted'>
export type TurnCompletedEvent = Of<'turnCompleted'>
export type TurnFailedEvent = Of<'turnFailed'>
export type TextChunkEvent = Of<'textChunk'>
export type ToolStartedEvent = Of<'toolStarted'>
export type ToolProgressEvent = Of<'toolProgress'>
export type ToolCompletedEvent = Of<'toolCompleted'>
export type ToolFailedEvent = Of<'toolFailed'>
export type FileChangedEvent = Of<'fileChanged'>
export type RequestOpenedEvent = Of<'requestOpened'>
export type RequestClosedEvent = Of<'requestClosed'>
export type ErrorEvent = Of<'error'>

/** What the document requires of each type, besides what it requires of all. */
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

/** A message as an event; nothing for a type that this version does not know, which is for others. */
export function parseEvent(text: string): AgentEvent | undefined {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || !('type' in value) || typeof value.type !== 'string')
    throw new AgentError('protocolError', 'a message is no event', { nativeError: text })
  if (!Object.hasOwn(REQUIRED, value.type)) return undefined
  if (isEvent(value)) return value
  throw new AgentError('protocolError', `a ${value.type} lacks what it must have`, { nativeError: text })
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
    throw new AgentError('protocolError', 'a message is not JSON', { nativeError: text, cause })
  }
}
