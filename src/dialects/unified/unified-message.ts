import * as z from 'zod'

/** An event with the fields that all events have. */
export const message = <Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) =>
  z.strictObject({
    id: z.string().describe('Identifies the event.'),
    sessionId: z.uuid().describe('The id of the session.'),
    timestamp: z.iso.datetime().describe('The time of the event in ISO 8601.'),
    type: z.literal(type),
    ...fields,
  })
