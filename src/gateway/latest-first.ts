import type { Entry } from '../model/index.ts'
import type { Sessions } from '../sessions/sessions.ts'

const PAGE = 256

/** A log from its end to its beginning: what is looked for is mostly at the end. */
export async function* latestFirst(
  sessions: Pick<Sessions, 'read'>,
  session: string,
  head: number,
): AsyncGenerator<Entry> {
  for (let last = head; last > 0; last -= PAGE) {
    const after = Math.max(0, last - PAGE)
    const entries = await sessions.read(session, after, last - after)
    yield* entries.toReversed()
  }
}
