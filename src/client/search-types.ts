import type { EventType, SessionRecord } from '../model/index.ts'

/** An entry that a search found. */
export interface SearchHit extends Pick<SessionRecord, 'agent' | 'cwd' | 'title'> {
  /** The id of the session. */
  session: string
  /** The number of the entry in its session. */
  seq: number
  /** Milliseconds since 1970. */
  at: number
  /** The type of the event. */
  type: EventType
  /** The text around the first match. */
  snippet: string
  /** The parts of the snippet that match, each from `start` up to the character before `end`. */
  marks: readonly { readonly start: number; readonly end: number }[]
}

/** Files that a search by name found. */
export interface FoundFileNames {
  /** Paths below the directory, the best match first. */
  files: readonly string[]
  /** False if the directory has more files than a search looks at. */
  complete: boolean
}

/** The result of a search. */
export interface SearchResult {
  /** The entries that were found, newest first. */
  hits: readonly SearchHit[]
  /** False while older entries are still being indexed and might match too. */
  complete: boolean
}
