import type { SessionRecord } from '../../model/index.ts'
import type { SessionQuery, Store } from '../../stores/store.ts'

const PAGE = 512

/** Yields every matching record, newest first, across all pages. */
export async function* allRecords(
  source: Pick<Store, 'records'>,
  query: Omit<SessionQuery, 'before' | 'limit'>,
): AsyncGenerator<SessionRecord> {
  let before: string | undefined
  do {
    const page = await source.records({ ...query, ...(before !== undefined && { before }), limit: PAGE })
    yield* page
    before = page.at(-1)?.id
  } while (before !== undefined)
}
