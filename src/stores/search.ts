import type { Entry } from '../model/index.ts'
import { matchesWords, searchText } from '../model/search-text.ts'

/** The matching entries, last first. */
export function matchesIn(entries: readonly Entry[], words: readonly string[]): Entry[] {
  return entries
    .filter(({ event }) => {
      const text = searchText(event)
      return text !== undefined && matchesWords(text, words)
    })
    .reverse()
}
