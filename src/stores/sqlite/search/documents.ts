import { searchTokens } from '../../../model/search-terms.ts'
import { searchText } from '../../../model/search-text.ts'
import { BETWEEN } from '../../log-rows.ts'
import { UPCASTS, upcast } from '../../upcast.ts'
import type { LogRow } from './log-rows.ts'
import type { Document } from './text-index.ts'

/** More than the entries of any row. The id of a document is that of its row times this, plus the place in the row. */
export const ROW_PLACES = 1024

/** Most entries of a log are of these types, and none of them has text to search. Not parsing them saves most of the work. */
const WITHOUT_TEXT =
  /"event":\{"type":"(?:text\.delta|thinking\.delta|tool\.input\.delta|tool\.progressed|usage\.reported|output\.written|native\.unmapped)"/

/** The text of each entry in a row that has any. */
export function documentsIn({ id, session, version, body }: LogRow): Document[] {
  const documents: Document[] = []
  for (const [place, text] of body.split(BETWEEN).entries()) {
    if (WITHOUT_TEXT.test(text)) continue
    const tokens = tokensOf(text, version)
    if (tokens.length > 0) documents.push({ id: id * ROW_PLACES + place, session, tokens })
  }
  return documents
}

/** Nothing of an entry that cannot be read: one bad entry must not stop the index. */
function tokensOf(text: string, version: number): string[] {
  try {
    const { event } = Object(upcast(JSON.parse(text), version, UPCASTS))
    return searchTokens(searchText(event) ?? '')
  } catch {
    return []
  }
}
