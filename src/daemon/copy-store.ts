import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { MainstemError } from '../model/index.ts'
import {
  type CopyOptions,
  type CopyProgress,
  type CopySummary,
  copyStore,
} from '../stores/copy/copy-store.ts'
import type { CopySource, CopyTarget } from '../stores/copy/copyable.ts'
import { openSqliteSource } from '../stores/sqlite/copy/sqlite-source.ts'
import { openSqliteTarget } from '../stores/sqlite/copy/sqlite-target.ts'

export type { CopyProgress, CopySummary }

const DATABASE = 'mainstem.db'
const URL_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i

/** Copies a store. Each is a PostgreSQL URL, a data directory, or the database file in one. */
export async function copy(from: string, to: string, options: CopyOptions): Promise<CopySummary> {
  const [origin, destination] = [placeOf(from), placeOf(to)]
  if (origin === destination) throw sameStore()
  await using source = await openSource(origin)
  await using target = await openTarget(destination)
  if (source.name === target.name) throw sameStore()
  return await copyStore(source, target, options)
}

/** The URL of a store, or the directory of its files. */
function placeOf(given: string): string {
  if (URL_SCHEME.test(given)) return given
  const path = resolve(given)
  const stats = statSync(path, { throwIfNoEntry: false })
  const isNamed = basename(path) === DATABASE
  if (stats?.isFile() && !isNamed) {
    throw new MainstemError('invalid_request', `${path} is a file that is not called ${DATABASE}`, {
      advice: 'Name the data directory of a server, or a PostgreSQL URL.',
    })
  }
  if (isNamed && !stats?.isDirectory()) return real(dirname(path))
  return existsSync(join(path, DATABASE)) ? real(path) : real(join(path, 'log'))
}

/** Two paths can lead to one directory. */
function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

/** Copies the store of a server into a directory, while the server may use it. Everything is copied as it is now. */
export async function backup(from: string, to: string, options: CopyOptions): Promise<CopySummary> {
  if (URL_SCHEME.test(to)) {
    throw new MainstemError('invalid_request', 'a backup is a directory', {
      advice: 'Name a directory that does not exist, or use `mainstem store copy`.',
    })
  }
  const origin = placeOf(from)
  if (origin === resolve(to)) throw sameStore()
  await using source = await openSource(origin, { online: true })
  await using target = openSqliteTarget(resolve(to))
  // What an interrupted backup has copied is older than what this one reads.
  return await copyStore(source, target, { ...options, restart: true })
}

/** Copies a backup into the store of a server, which must be empty. */
export async function restore(from: string, to: string, options: CopyOptions): Promise<CopySummary> {
  const directory = resolve(from)
  if (!existsSync(join(directory, DATABASE))) {
    throw new MainstemError('not_found', `there is no backup in ${directory}`, {
      advice: 'Name the directory that `mainstem backup` wrote.',
    })
  }
  return copy(directory, to, { ...options, restart: true })
}

async function openSource(place: string, how = { online: false }): Promise<CopySource> {
  if (!URL_SCHEME.test(place)) return openSqliteSource(place, how)
  // Loaded late: a copy between files needs no client of PostgreSQL.
  const { openPostgresSource } = await import('../stores/postgres/copy/postgres-copy.ts')
  return openPostgresSource(place, how)
}

async function openTarget(place: string): Promise<CopyTarget> {
  if (!URL_SCHEME.test(place)) return openSqliteTarget(place)
  const { openPostgresTarget } = await import('../stores/postgres/copy/postgres-copy.ts')
  return openPostgresTarget(place)
}

function sameStore(): MainstemError {
  return new MainstemError('invalid_request', 'both stores are the same', {
    advice: 'Name another store to copy to.',
  })
}
