import { z } from 'zod'
import { Event } from './event.ts'
import { SessionId } from './ids.ts'

/** Raised when an event changes shape; older entries are upcast when they are read. */
export const SCHEMA_VERSION = 1

/** An event as the log keeps it. `seq` starts at 1, has no gap, and only the log stamps it. */
export const Entry = z.strictObject({
  seq: z.int().positive(),
  session: SessionId,
  turn: z.int().positive().optional(),
  at: z.int().nonnegative().describe('milliseconds since 1970; for people, never for order'),
  event: Event,
  native: z.int().positive().optional().describe('the number of the raw frame in the journal it came from'),
})
export type Entry = z.infer<typeof Entry>
