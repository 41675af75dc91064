import { isDamaged, MainstemError } from '../model/index.ts'

/** Where damage was found; `first` and `last` are the entries that cannot be read. */
export interface Place {
  session?: string
  first?: number
  last?: number
}

/** Stored data that is not what was written. It is refused, so that nothing wrong is served. */
export function damaged(what: string, place: Place = {}): MainstemError {
  const { session, first, last } = place
  const entries = first === undefined ? '' : ` (entries ${first} to ${last})`
  const whose = session === undefined ? '' : ` of session ${session}`
  return new MainstemError(
    'storage_failed',
    `${what}${whose}${entries} is damaged: run mainstem doctor, then restore a backup or delete the session`,
    { what, ...place },
  )
}

/** Reads something of a session in another way if the session is damaged. */
export function orIfDamaged<T>(session: string, read: () => T, instead: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (!isDamaged(thrown, session)) throw thrown
    return instead()
  }
}
