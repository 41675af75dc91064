import type { Entry, SessionRecord } from '../model/index.ts'
import type { Sessions } from '../sessions/sessions.ts'

const PAGE = 256

/** A log from its end to the first entry that is kept: what is looked for is mostly at the end. */
export async function* latestFirst(
  sessions: Pick<Sessions, 'read'>,
  { id, head, earliest = 1 }: Pick<SessionRecord, 'id' | 'head' | 'earliest'>,
): AsyncGenerator<Entry> {
  for (let last = head; last >= earliest; last -= PAGE) {
    const after = Math.max(earliest - 1, last - PAGE)
    const entries = await sessions.read(id, after, last - after)
    yield* entries.toReversed()
  }
}
