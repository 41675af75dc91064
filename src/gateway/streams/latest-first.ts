import type { Entry, SessionRecord } from '../../model/index.ts'
import { contentSize } from '../../model/text/content-size.ts'
import { ROOM_WAIT_MS } from '../../reading/log-reader.ts'
import type { Sessions } from '../../sessions/sessions.ts'

/** Entries and bytes per window; a single entry may be larger. */
const WINDOW = 256
const WINDOW_BYTES = 1024 * 1024

/** Reads a log backwards to the first retained entry, because searches mostly match near the end. */
export async function* latestFirst(
  sessions: Pick<Sessions, 'replay'>,
  { id, head, earliest = 1 }: Pick<SessionRecord, 'id' | 'head' | 'earliest'>,
): AsyncGenerator<Entry> {
  let size = WINDOW
  for (let last = head; last >= earliest; ) {
    const after = Math.max(earliest - 1, last - size)
    const entries = await windowOf(sessions, id, after, last)
    if (!entries) {
      size = Math.max(1, Math.floor(size / 4))
      continue
    }
    yield* entries.toReversed()
    last = after
    size = Math.min(WINDOW, 2 * size)
  }
}

/** Returns undefined when the entries exceed the window size. */
async function windowOf(
  sessions: Pick<Sessions, 'replay'>,
  id: string,
  after: number,
  last: number,
): Promise<readonly Entry[] | undefined> {
  const found: Entry[] = []
  let bytes = 0
  for await (const entries of sessions.replay(id, after, last, { waitMs: ROOM_WAIT_MS })) {
    bytes += contentSize(entries)
    if (bytes > WINDOW_BYTES && last - after > 1) return undefined
    found.push(...entries)
  }
  return found
}
