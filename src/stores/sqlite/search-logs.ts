import { setImmediate } from 'node:timers/promises'
import type { Entry } from '../../model/index.ts'
import { matchesIn } from '../search.ts'
import type { Store, TextQuery } from '../store.ts'
import type { Reader } from './reader.ts'

/**
 * Scans the log from the newest row, until enough entries match. There is no text index, which would slow appends down;
 * other tasks run between two scans.
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
      found.push(...matchesIn(entries, query.terms))
      if (found.length >= query.limit) break
    }
    below = rows.below
    await setImmediate()
  }
  return found.slice(0, query.limit)
}
