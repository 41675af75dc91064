import { type Entry, isDamaged, MainstemError } from '../../../model/index.ts'
import { matchesIn } from '../../search.ts'
import type { Store, TextMatches, TextQuery } from '../../store.ts'
import type { EntryPlace } from './log-rows.ts'
import type { SearchChannel } from './search-channel.ts'

/** The time limit for a search to index entries that an older version wrote. */
const WAIT_MS = 1_000

/** Looks up entries in the index, and reads them from the logs. */
export async function searchLogs(
  index: Pick<SearchChannel, 'find'>,
  store: Pick<Store, 'read'>,
  { principal, terms, limit }: TextQuery,
): Promise<TextMatches> {
  const entries: Entry[] = []
  for (let below: number | undefined; ; ) {
    const rest = limit - entries.length
    const question = { principal, terms, limit: rest, waitMs: WAIT_MS, ...(below !== undefined && { below }) }
    const found = await index.find(question)
    for (const place of found.places) entries.push(...matchesIn(await readAt(store, place), terms))
    if (found.places.length < rest || entries.length >= limit)
      return { entries, isComplete: found.isComplete }
    below = found.below
  }
}

/** Undefined if the entry was removed meanwhile or is damaged, so that the other matches can be read. */
async function readAt(store: Pick<Store, 'read'>, { session, seq }: EntryPlace): Promise<readonly Entry[]> {
  try {
    return await store.read(session, seq - 1, 1)
  } catch (thrown) {
    const isRemoved = thrown instanceof MainstemError && thrown.code === 'cursor_gone'
    if (isRemoved || isDamaged(thrown, session)) return []
    throw thrown
  }
}
