import { setImmediate } from 'node:timers/promises'
import type { Entry } from '../../model/index.ts'
import { matchesIn } from '../search.ts'
import type { Store, TextQuery } from '../store.ts'
import type { Reader } from './reader.ts'

/**
 * Reads the newest rows of the log first, until enough entries match. There is no index, so that appending stays as fast
 * as it is; between two stretches of rows others have their turn.
 */
export async function searchLogs(
  reader: Pick<Reader, 'candidates'>,
  store: Pick<Store, 'read'>,
  query: TextQuery,
): Promise<readonly Entry[]> {
  const found: Entry[] = []
  for (let below: number | undefined; below !== 0 && found.length < query.limit; ) {
    const rows = reader.candidates(query, below)
    for (const { session, first, last } of rows.found) {
      const entries: Entry[] = []
      for (let after = first - 1; after < last; after = entries.at(-1)?.seq ?? last)
        entries.push(...(await store.read(session, after, last - after)))
      found.push(...matchesIn(entries, query.words))
      if (found.length >= query.limit) break
    }
    below = rows.below
    await setImmediate()
  }
  return found.slice(0, query.limit)
}
