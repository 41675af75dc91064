import { LogStore } from './log-store/log-store.ts'
import type { NodeStore } from './nodes.ts'
import { PostgresBackend } from './postgres/backend.ts'
import { renewEpoch } from './postgres/commit-log.ts'
import { Database, type DatabaseOptions } from './postgres/database.ts'
import { prepareSchema } from './postgres/migrate.ts'
import { SharedTime } from './postgres/shared-time.ts'
import type { Store } from './store.ts'
import { UPCASTS, type Upcasts } from './upcast.ts'

export interface PostgresOptions extends DatabaseOptions {
  /** The failures that an acknowledged entry survives. `power` refuses a server that may lose commits in a power cut. */
  durability?: 'power' | 'process'
  /** False keeps no search index and refuses searches. Another server on the database may keep it. */
  search?: boolean
  /** Converts entries of older schema versions. */
  upcasts?: Upcasts
  /** A clock in milliseconds for keys and leases. By default keys have the system's, and leases the database's. */
  monotonic?: () => number
}

/** A store in one schema of a PostgreSQL database. Several servers can share it. */
export async function postgresStore(
  options: PostgresOptions,
): Promise<Store & { readonly nodes: NodeStore }> {
  const { durability = 'power', search = true, upcasts = UPCASTS, monotonic } = options
  const database = await Database.open(options)
  try {
    await prepareSchema(database, { durable: durability === 'power' })
    await renewEpoch(database)
    const time = await SharedTime.start(database, monotonic)
    const backend = new PostgresBackend(database, { time, monotonic, search })
    const store = new LogStore(backend, upcasts)
    await backend.start()
    return Object.assign(store, { nodes: backend.nodes })
  } catch (thrown) {
    await database[Symbol.asyncDispose]()
    throw thrown
  }
}
