import type { EventType } from '../model/index.ts'
import type { StreamEvent } from './daemon-event.ts'

/** Which message of an event shows the frame that it came from. */
const SHOWN_IN: Partial<Record<EventType, StreamEvent['type']>> = {
  'session.updated': 'system',
  'text.completed': 'text',
  'tool.started': 'tool_use',
  'tool.progressed': 'tool_use',
  'request.opened': 'tool_use',
  'turn.completed': 'result',
}

/** The messages of an event with the frame that it came from. */
export function withRaw(
  said: readonly StreamEvent[],
  event: EventType,
  text: string,
): readonly StreamEvent[] {
  const type = SHOWN_IN[event]
  const frame = said.some((message) => message.type === type) ? objectIn(text) : undefined
  if (!frame) return said
  return said.map((message) => (message.type === type ? addRaw(message, frame) : message))
}

/** What the frame says wins over what was put there for frames that do not say it. */
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

/** A frame that is no JSON object has no place in `raw`. */
function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
