import type { Entry, SessionRecord } from '../../model/index.ts'
import type { Sessions } from '../../sessions/sessions.ts'

const PAGE = 256

/** A log from its end to the first entry that is kept: what is looked for is mostly at the end. */
export async function* latestFirst(
  sessions: Pick<Sessions, 'read'>,
  { id, head, earliest = 1 }: Pick<SessionRecord, 'id' | 'head' | 'earliest'>,
): AsyncGenerator<Entry> {
  for (let last = head; last >= earliest; last -= PAGE) {
    const after = Math.max(earliest - 1, last - PAGE)
    const entries = await readBetween(sessions, id, after, last)
    yield* entries.toReversed()
  }
}

/** All that is kept behind one entry and up to another. */
export async function readBetween(
  sessions: Pick<Sessions, 'read'>,
  id: string,
  after: number,
  last: number,
): Promise<readonly Entry[]> {
  const found: Entry[] = []
  for (let seq = after; seq < last; ) {
    const some = await sessions.read(id, seq, last - seq)
    found.push(...some)
    seq = some.at(-1)?.seq ?? last
  }
  return found
}
