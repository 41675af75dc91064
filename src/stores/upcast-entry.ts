import { Entry } from '../model/index.ts'
import { type Upcasts, upcast } from './upcast.ts'

/** Converts an entry that an older Mainstem wrote to the current shape. */
export function upcastEntry(entry: unknown, version: number, upcasts: Upcasts): Entry {
  return Entry.parse(upcast(entry, version, upcasts))
}
