import { z } from 'zod'
import { Event, type EventType } from '../../model/index.ts'

const known: ReadonlySet<string> = new Set(Event.options.map(({ shape }) => shape.type.value))

function isEventType(type: string): type is EventType {
  return known.has(type)
}

/** Types of events with commas between them. */
export const EventTypes = z
  .string()
  .transform((text, context) => {
    const types = text.split(',').map((type) => type.trim())
    const stranger = types.find((type) => !isEventType(type))
    if (stranger !== undefined) {
      context.addIssue({ code: 'custom', message: `there are no events of type "${stranger}"` })
      return z.NEVER
    }
    return new Set(types.filter(isEventType))
  })
  .describe('only these types of events, with commas between them')
