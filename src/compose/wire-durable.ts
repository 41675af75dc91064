import { resolve } from 'node:path'
import { quietSqlite } from '../stores/sqlite/quiet.ts'
import { type Wired, type Wiring, wire } from './wire.ts'

/**
 * Composes sessions whose logs are in a directory, laid out as that of a server. Settles the turns that an earlier
 * process left open, and ends its agents. Refused if another process has the directory open.
 */
export async function wireDurable(data: string, wiring: Omit<Wiring, 'store' | 'owner'>): Promise<Wired> {
  // Before the first await, because the program may change its directory.
  const directory = resolve(data)
  const { openStore } = await importQuietly()
  // The library has no search.
  const { store, owner } = await openStore({ data: directory, durability: 'power', search: 'off' })
  const wired = wire({ ...wiring, store, ...(owner !== undefined && { owner }) })
  try {
    await wired.sessions.recover()
    return wired
  } catch (thrown) {
    await wired[Symbol.asyncDispose]()
    throw thrown
  }
}

/** Imported late: a program without a data directory needs no SQLite, and Node 22 warns when it is loaded. */
async function importQuietly() {
  const restore = quietSqlite()
  try {
    return await import('./open-store.ts')
  } finally {
    restore()
  }
}
