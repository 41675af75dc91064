import type { ErrorCode } from '../../../model/index.ts'
import type { IndexMatches, IndexQuery } from './indexer.ts'

/** The start parameters of the search thread. */
export interface SearchSettings {
  /** The database of the logs. */
  database: string
  /** The database of the index. */
  index: string
}

export type ToSearch =
  | { kind: 'find'; ask: number; query: IndexQuery }
  /** Rows were added to the logs. */
  | { kind: 'changed' }
  /** Rows of this session were removed from the logs. */
  | { kind: 'removed'; session: number }
  | { kind: 'close' }

/** The answer to a `find`. */
export type FromSearch = { ask: number } & (
  | { matches: IndexMatches }
  | { failure: { code: ErrorCode; message: string; details: Record<string, unknown> | undefined } }
)
