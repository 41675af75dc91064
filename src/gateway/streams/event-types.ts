import * as z from 'zod'
import { Event, type EventType } from '../../model/index.ts'

const known: ReadonlySet<string> = new Set(Event.options.map(({ shape }) => shape.type.value))

function isEventType(type: string): type is EventType {
  return known.has(type)
}

/** A comma-separated list of event types. */
export const EventTypes = z
  .string()
  .transform((text, context) => {
    const types = text.split(',').map((type) => type.trim())
    const stranger = types.find((type) => !isEventType(type))
    if (stranger !== undefined) {
      context.addIssue({ code: 'custom', message: `unknown event type "${stranger}"` })
      return z.NEVER
    }
    return new Set(types.filter(isEventType))
  })
  .describe('only these event types, comma-separated')
