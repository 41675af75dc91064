// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { BlobRef } from './blob.types.ts'
import type { Event } from './event.types.ts'
import type { SessionId } from './ids.types.ts'

/** An event in the log of a session, with its number and time. */
export type Entry = {
  /** The number of the entry in its session. Starts at 1, has no gaps; use the last one as the cursor. */
  seq: number
  /** The id of the session. */
  session: SessionId
  /** The turn that the event belongs to. */
  turn?: number | undefined
  /** Milliseconds since 1970, for display. Order entries by `seq`. */
  at: number
  /** The event. */
  event: Event
  /** The number of the raw frame in the journal that caused the event. */
  native?: number | undefined
  /**
   * Texts that are too large for the event. It has the beginning of each, and `[<bytes> bytes in blob <id>]`.
   * Large texts of a frame that no event has are listed too.
   */
  blobs?: BlobRef[] | undefined
}
