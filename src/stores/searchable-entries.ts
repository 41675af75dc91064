import type { EventType } from '../model/index.ts'
import { searchTokens } from '../model/text/search-terms.ts'
import { searchText } from '../model/text/search-text.ts'
import { BETWEEN } from './log-rows.ts'
import { typeIn } from './row-types.ts'
import { scopeOf } from './search.ts'
import { UPCASTS, upcast } from './upcast.ts'

/** An entry with text to search. */
export interface SearchableEntry {
  /** Its place in the row of the log, from 0. */
  place: number
  /** Each with the scope of its principal before it. */
  tokens: readonly string[]
}

/** Most entries of a log are of these types, and none of them has text to search. Not parsing them saves most of the work. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set<EventType>([
  'text.delta',
  'thinking.delta',
  'tool.input.delta',
  'tool.progressed',
  'usage.reported',
  'output.written',
  'native.unmapped',
])

/** The entries of a row of the log that have text to search. `version` is that of the row. */
export function searchableEntries(body: string, version: number, principal: string): SearchableEntry[] {
  const found: SearchableEntry[] = []
  const scope = scopeOf(principal)
  for (const [place, text] of body.split(BETWEEN).entries()) {
    if (WITHOUT_TEXT.has(typeIn(text) ?? '')) continue
    const tokens = tokensOf(text, version)
    if (tokens.length > 0) found.push({ place, tokens: tokens.map((token) => scope + token) })
  }
  return found
}

/** Skips an entry that cannot be read, so that one bad entry does not stop the index. */
function tokensOf(text: string, version: number): string[] {
  try {
    const { event } = Object(upcast(JSON.parse(text), version, UPCASTS))
    return searchTokens(searchText(event) ?? '')
  } catch {
    return []
  }
}
