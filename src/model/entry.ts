import * as z from 'zod'
import { BlobRef } from './blob.ts'
import type * as types from './entry.types.ts'
import { Event } from './event.ts'
import { SessionId } from './ids.ts'

/** An event in the log of a session, with its number and time. */
export const Entry = z.strictObject({
  seq: z
    .int()
    .positive()
    .describe(
      'The number of the entry in its session. Starts at 1, has no gaps; use the last one as the cursor.',
    ),
  session: SessionId.describe('The id of the session.'),
  turn: z.int().positive().optional().describe('The turn that the event belongs to.'),
  at: z.int().nonnegative().describe('Milliseconds since 1970, for display. Order entries by `seq`.'),
  event: Event.describe('The event.'),
  native: z
    .int()
    .positive()
    .optional()
    .describe('The number of the raw frame in the journal that caused the event.'),
  blobs: z
    .array(BlobRef)
    .min(1)
    .optional()
    .describe(
      'Texts that are too large for the event. It has the beginning of each, and `[<bytes> bytes in blob <id>]`. Large texts of a frame that no event has are listed too.',
    ),
})
export type Entry = types.Entry
