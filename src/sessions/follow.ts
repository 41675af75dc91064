import type { Entry } from '../model/index.ts'
import type { Store } from '../stores/store.ts'

const BATCH = 512

/**
 * Replay, then live, as one stream of committed batches: readers always read the log, so a slow one costs
 * nothing but its own cursor. Ends after `session.ended`, or when the signal fires.
 */
export async function* follow(
  store: Store,
  session: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly Entry[]> {
  let cursor = after
  while (!signal.aborted) {
    const entries = await store.read(session, cursor, BATCH)
    const last = entries.at(-1)
    if (!last) {
      // Settles at once when something was appended since the read, so nothing can be missed in between.
      await store.changed(session, cursor, signal)
      continue
    }
    yield entries
    cursor = last.seq
    if (last.event.type === 'session.ended') return
  }
}
