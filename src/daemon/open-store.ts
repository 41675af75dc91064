/// <reference lib="esnext.disposable" preserve="true" />
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { MainstemError } from '../model/index.ts'
import { memoryStore } from '../stores/memory.ts'
import { passwordsIn } from '../stores/postgres/address.ts'
import { takeLock } from '../stores/sqlite/lock.ts'
import { sqliteStore } from '../stores/sqlite.ts'
import type { Store } from '../stores/store.ts'
import type { Config } from './config.ts'
import { storeOwner } from './store-owner.ts'

/** The store of a server, and the role of the server in it. */
export interface OpenedStore {
  store: Store
  /** Marks the processes of the server; undefined if the store ends with the process. */
  owner: string | undefined
  /** Values that must not be in any log. */
  secrets: readonly string[]
  /** Dispose of it after the store. */
  lock: Disposable | undefined
}

type StoreConfig = Pick<Config, 'data' | 'durability' | 'maxBytes' | 'store'>

/** Opens the store that the configuration names. */
export async function openStore(config: StoreConfig): Promise<OpenedStore> {
  const { data, durability, maxBytes, store: given } = config
  if (given?.url !== undefined) return openPostgres(config, given.url)
  const none = { owner: undefined, secrets: [], lock: undefined }
  if (durability === 'none') return { ...none, store: memoryStore() }
  const directory = join(data, 'log')
  const store = await sqliteStore({ directory, durability, ...(maxBytes !== undefined && { maxBytes }) })
  return { ...none, store, owner: storeOwner(directory) }
}

async function openPostgres(config: StoreConfig, url: string): Promise<OpenedStore> {
  const { data, durability, maxBytes, store: { listenUrl, connections } = {} } = config
  if (durability === 'none')
    throw wrong('durability is none, and store.url names a database: remove one of them')
  if (maxBytes !== undefined) throw wrong('maxBytes limits a store in a file: remove it, or store.url')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  // Two servers on one directory would have the same owner, and take each other's sessions.
  const lock = takeLock(join(data, 'lock'))
  try {
    // Loaded late: most servers have their store in a file.
    const { postgresStore } = await import('../stores/postgres.ts')
    const owner = storeOwner(data)
    const store = await postgresStore({
      url,
      durability,
      ...(listenUrl !== undefined && { listenUrl }),
      ...(connections !== undefined && { connections }),
    })
    const secrets = [url, listenUrl ?? url].flatMap(passwordsIn)
    return { store, owner, secrets, lock }
  } catch (thrown) {
    lock[Symbol.dispose]()
    throw thrown
  }
}

function wrong(message: string): MainstemError {
  return new MainstemError('invalid_request', `configuration: ${message}`)
}
