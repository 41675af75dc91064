import { createHash } from 'node:crypto'
import type { Entry } from '../model/index.ts'
import { importerOf } from '../model/owner.ts'
import { matchesTerms, type SearchTerm } from '../model/text/search-terms.ts'
import { searchText } from '../model/text/search-text.ts'

/** Characters of a scope. Principals that share one by chance cost each other time, and never see each other's entries. */
const SCOPE_CHARS = 4
const SCOPES = 36 ** SCOPE_CHARS

/**
 * What every word of a principal begins with in an index. A search looks up words of its own principal only, so its time
 * does not depend on the words of others, and tells nothing about them.
 */
export function scopeOf(principal: string): string {
  const hash = createHash('sha256').update(importerOf(principal)).digest().readUIntBE(0, 6)
  return (hash % SCOPES).toString(36).padStart(SCOPE_CHARS, '0')
}

/** The matching entries, last first. */
export function matchesIn(entries: readonly Entry[], terms: readonly SearchTerm[]): Entry[] {
  return entries
    .filter(({ event }) => {
      const text = searchText(event)
      return text !== undefined && matchesTerms(text, terms)
    })
    .reverse()
}
