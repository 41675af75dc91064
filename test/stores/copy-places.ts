import { join } from 'node:path'
import type { CopySource, CopyTarget } from '../../src/stores/copy/copyable.ts'
import { openPostgresSource, openPostgresTarget } from '../../src/stores/postgres/copy/postgres-copy.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import { openSqliteSource } from '../../src/stores/sqlite/copy/sqlite-source.ts'
import { openSqliteTarget } from '../../src/stores/sqlite/copy/sqlite-target.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { newSchema } from '../postgres/database.ts'
import { newDirectory } from './sqlite-parts.ts'

/** Where a store can be: it is opened by a server, copied, or copied into. */
export interface Place {
  /** The file or the URL. */
  address: string
  open(): Promise<Store>
  source(): Promise<CopySource>
  target(): Promise<CopyTarget>
}

export const PLACES = {
  sqlite: async (): Promise<Place> => {
    const directory = newDirectory()
    return {
      address: join(directory, 'mainstem.db'),
      open: () => sqliteStore({ directory, durability: 'process' }),
      source: async () => openSqliteSource(directory),
      target: async () => openSqliteTarget(directory),
    }
  },
  postgres: async (): Promise<Place> => {
    const url = await newSchema()
    return {
      address: url,
      open: () => postgresStore({ url }),
      source: () => openPostgresSource(url),
      target: () => openPostgresTarget(url),
    }
  },
}

export type PlaceKind = keyof typeof PLACES

/** Every pair of stores. */
export const PAIRS: readonly (readonly [PlaceKind, PlaceKind])[] = [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
  ['sqlite', 'sqlite'],
  ['postgres', 'postgres'],
]
