import { searchableEntries } from '../../searchable-entries.ts'
import type { LogRow } from './log-rows.ts'
import type { Document } from './text-index.ts'

/** More than the entries of any row. The id of a document is that of its row times this, plus the place in the row. */
export const ROW_PLACES = 1024

/** The text of each entry in a row that has any. */
export function documentsIn({ id, session, principal, version, body }: LogRow): Document[] {
  return searchableEntries(body, version, principal).map(({ place, tokens }) => ({
    id: id * ROW_PLACES + place,
    session,
    tokens,
  }))
}
