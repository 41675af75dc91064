import { Entry, MainstemError, SCHEMA_VERSION } from '../model/index.ts'

/** By version: what makes an entry of that version one of the next. */
export type Upcasts = ReadonlyMap<number, (entry: unknown) => unknown>

/** Version 1 is the first. */
export const UPCASTS: Upcasts = new Map()

/** An entry that an older Mainstem wrote, in today's shape. */
export function upcast(entry: unknown, version: number, upcasts: Upcasts): Entry {
  if (version > SCHEMA_VERSION) throw unreadable(version, 'it was written by a newer Mainstem')
  let current = entry
  for (let at = version; at < SCHEMA_VERSION; at++) {
    const step = upcasts.get(at)
    if (!step) throw unreadable(version, `nothing leads from ${at} to ${at + 1}`)
    current = step(current)
  }
  return Entry.parse(current)
}

function unreadable(version: number, why: string): MainstemError {
  return new MainstemError('storage_failed', `an entry of schema version ${version} cannot be read: ${why}`)
}
