import type { BlobRef, Entry, Event } from '../../model/index.ts'

/** Complete literals: adding fields later would reallocate every entry. */
export function stamp(
  seq: number,
  session: string,
  turn: number | undefined,
  at: number,
  event: Event,
  native: number | undefined,
  blobs?: readonly BlobRef[],
): Entry {
  if (blobs) return { ...stamp(seq, session, turn, at, event, native), blobs: [...blobs] }
  if (turn === undefined) {
    return native === undefined ? { seq, session, at, event } : { seq, session, at, event, native }
  }
  return native === undefined ? { seq, session, turn, at, event } : { seq, session, turn, at, event, native }
}
