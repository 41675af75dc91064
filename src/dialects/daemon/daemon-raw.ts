import type { EventType } from '../../model/index.ts'
import type { StreamEvent } from './daemon-event.ts'

/** The message type that carries the native frame of an event. */
const SHOWN_IN: Partial<Record<EventType, StreamEvent['type']>> = {
  'session.updated': 'system',
  'text.completed': 'text',
  'tool.started': 'tool_use',
  'tool.progressed': 'tool_use',
  'request.opened': 'tool_use',
  'turn.completed': 'result',
}

/** Adds the native frame to the messages of an event. */
export function withRaw(
  messages: readonly StreamEvent[],
  event: EventType,
  text: string,
): readonly StreamEvent[] {
  const type = SHOWN_IN[event]
  const frame = messages.some((message) => message.type === type) ? objectIn(text) : undefined
  if (!frame) return messages
  return messages.map((message) => (message.type === type ? addRaw(message, frame) : message))
}

/** Fields of the frame override fields that were filled in for agents whose frames lack them. */
function addRaw(message: StreamEvent, frame: Record<string, unknown>): StreamEvent {
  switch (message.type) {
    case 'system':
    case 'text':
    case 'tool_use':
    case 'result':
      return { ...message, raw: { ...message.raw, ...frame } }
    default:
      return message
  }
}

/** `raw` cannot represent a frame that is not a JSON object. */
function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
