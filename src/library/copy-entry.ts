import type { Entry } from '../model/index.ts'
import { jsonCopy } from '../model/json-copy.ts'

/** Copies an entry for a consumer. The spread is not in `jsonCopy`, because the engine is fast on the few shapes of an entry. */
export function copyEntry(entry: Entry): Entry {
  return { ...entry, event: jsonCopy(entry.event) }
}
