import { SCHEMA_VERSION } from '../model/index.ts'
import { Leases, OpenTime } from './leases.ts'
import { LogStore } from './log-store/log-store.ts'
import { SqliteBackend } from './sqlite/backend.ts'
import { BlobFiles } from './sqlite/blobs.ts'
import { filesIn } from './sqlite/files.ts'
import { SqliteReader } from './sqlite/reader.ts'
import { SearchChannel } from './sqlite/search/search-channel.ts'
import { removeIndex } from './sqlite/search/text-index.ts'
import type { SqliteOptions } from './sqlite/sqlite-options.ts'
import { startWriter } from './sqlite/writer-channel.ts'
import type { Store } from './store.ts'
import { UPCASTS } from './upcast.ts'

/** A store in one folder: a database with a writer thread, and one file per blob. */
export async function sqliteStore(options: SqliteOptions): Promise<Store> {
  const { directory, durability = 'power', maxBytes, search = true, upcasts = UPCASTS, monotonic } = options
  const files = filesIn(directory)
  const settings = { directory, durability, maxBytes, entryVersion: SCHEMA_VERSION }
  const channel = await startWriter(settings)
  const reader = new SqliteReader(files.database, (owner) => leases?.othersThan(owner) ?? [])
  let leases: Leases | undefined
  try {
    const time = new OpenTime(reader.lastReceiptAt(), monotonic)
    leases = new Leases(time)
    const blobs = new BlobFiles(files.blobs, durability === 'power')
    // An index that is not kept up would have text of sessions that are deleted.
    if (!search) removeIndex(files.index)
    const parts = { channel, reader, blobs, time, leases }
    const backend = new SqliteBackend({ ...parts, ...(search && { search: new SearchChannel(files) }) })
    return new LogStore(backend, upcasts)
  } catch (thrown) {
    reader.close()
    await channel.close({ kind: 'close' })
    throw thrown
  }
}
