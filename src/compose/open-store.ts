/// <reference lib="esnext.disposable" preserve="true" />

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MainstemError } from '../model/index.ts'
import { memoryStore } from '../stores/memory.ts'
import { passwordsIn } from '../stores/postgres/address.ts'
import { takeLock } from '../stores/sqlite/lock.ts'
import { sqliteStore } from '../stores/sqlite.ts'
import type { Store } from '../stores/store.ts'

/**
 * Names the owner of the store in a directory. Each start of a server on it gets the same name; a copy of the
 * directory, or another one at the same path in a container, has another.
 */
function storeOwner(directory: string): string {
  const { dev, ino } = statSync(directory)
  const place = `${realpathSync(directory)} ${dev} ${ino}`
  return createHash('sha256').update(place).digest('hex').slice(0, 16)
}

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

/** A PostgreSQL database. */
interface DatabaseAddress {
  url?: string | undefined
  listenUrl?: string | undefined
  connections?: number | undefined
}

/** Where the logs are kept. */
export interface StorePlace {
  /** The data directory of a server, or of a program that uses the library. */
  data: string
  durability: 'power' | 'process' | 'none'
  maxBytes?: number | undefined
  /** Whether to keep an index for searches; `on` by default. */
  search?: 'on' | 'off' | undefined
  /** A database instead of a file in the data directory. */
  store?: DatabaseAddress | undefined
}

/** Opens the store at a place. Refused if another process has it open. */
export async function openStore(place: StorePlace): Promise<OpenedStore> {
  const { data, durability, maxBytes, search, store: given } = place
  if (given?.url !== undefined) return openPostgres(place, given.url)
  const none = { owner: undefined, secrets: [], lock: undefined }
  if (durability === 'none') return { ...none, store: memoryStore() }
  checkNotElsewhere(data)
  const directory = join(data, 'log')
  const store = await sqliteStore({
    directory,
    durability,
    search: search !== 'off',
    ...(maxBytes !== undefined && { maxBytes }),
  })
  return { ...none, store, owner: storeOwner(directory) }
}

/** The lock of a server in this directory whose store is a database. */
const databaseLock = (data: string) => join(data, 'lock')

/** Throws if the server of the directory has its store elsewhere: nobody would read what is written to a file here. */
function checkNotElsewhere(data: string): void {
  if (existsSync(databaseLock(data))) takeLock(databaseLock(data))[Symbol.dispose]()
}

async function openPostgres(place: StorePlace, url: string): Promise<OpenedStore> {
  const { data, durability, maxBytes, search, store: { listenUrl, connections } = {} } = place
  if (durability === 'none')
    throw wrong('durability is none, and store.url names a database: remove one of them')
  if (maxBytes !== undefined) throw wrong('maxBytes limits a store in a file: remove it, or store.url')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  // Two servers on one directory would have the same owner, and take each other's sessions.
  const lock = takeLock(databaseLock(data))
  try {
    lock.mark()
    // Loaded late: most servers have their store in a file.
    const { postgresStore } = await import('../stores/postgres.ts')
    const owner = storeOwner(data)
    const store = await postgresStore({
      url,
      durability,
      search: search !== 'off',
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
