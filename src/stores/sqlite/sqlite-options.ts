import type { Upcasts } from '../upcast.ts'
import type { Durability } from './message.ts'

export interface SqliteOptions {
  /** Created if missing. */
  directory: string
  /** What an acknowledged entry survives: a power loss (`power`, the default), or only the end of this process. */
  durability?: Durability
  /** The maximum size of the database. Beyond it, writes fail until data is deleted. */
  maxBytes?: number
  /** False keeps no search index, removes an existing one, and refuses searches. */
  search?: boolean
  /** Converts entries of older schema versions. */
  upcasts?: Upcasts
  /** A monotonic clock in milliseconds; the system's by default. */
  monotonic?: () => number
}
