import { MainstemError } from '../../model/mainstem-error.ts'

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
