import * as z from 'zod'

const event = <Type extends string, Payload extends z.ZodRawShape>(type: Type, payload: Payload) =>
  z.looseObject({
    // The published schema requires a UUID, but its examples have the prefix `evt-`.
    id: z.string().regex(/^(evt-)?[0-9a-f-]{36}$/),
    sessionId: z.uuid(),
    type: z.literal(type),
    payload: z.looseObject(payload),
    timestamp: z.iso.datetime(),
  })

/** The events of a board, one object per message. Loose, because new fields are allowed. */
export const SessionEvent = z.discriminatedUnion('type', [
  event('plan', { message: z.string() }),
  event('log', { line: z.string() }),
  event('diff', { file: z.string(), diff: z.string() }),
  event('action', { tool: z.string(), args: z.record(z.string(), z.unknown()) }),
  event('toolResult', { tool: z.string(), success: z.boolean(), output: z.string() }),
  event('error', { message: z.string() }),
  event('cancelled', {}),
])
