import { isDamaged } from '../model/outcome/error-table.ts'
import { MainstemError } from '../model/outcome/mainstem-error.ts'

/** Where damage was found; `first` and `last` are the entries that cannot be read. */
export interface DamageLocation {
  session?: string
  first?: number
  last?: number
}

/** The error for stored data that does not match its checksum. */
export function damaged(what: string, location: DamageLocation = {}): MainstemError {
  const { session, first, last } = location
  const entries = first === undefined ? '' : ` (entries ${first} to ${last})`
  const whose = session === undefined ? '' : ` of session ${session}`
  return new MainstemError(
    'storage_failed',
    `${what}${whose}${entries} is damaged: run mainstem doctor, then restore a backup or delete the session`,
    { what, ...location },
  )
}

/** Uses a fallback if the session is damaged. */
export function orIfDamaged<T>(session: string, read: () => T, instead: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (!isDamaged(thrown, session)) throw thrown
    return instead()
  }
}
