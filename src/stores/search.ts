import type { Entry } from '../model/index.ts'
import { matchesTerms, type SearchTerm } from '../model/text/search-terms.ts'
import { searchText } from '../model/text/search-text.ts'

/** The matching entries, last first. */
export function matchesIn(entries: readonly Entry[], terms: readonly SearchTerm[]): Entry[] {
  return entries
    .filter(({ event }) => {
      const text = searchText(event)
      return text !== undefined && matchesTerms(text, terms)
    })
    .reverse()
}
