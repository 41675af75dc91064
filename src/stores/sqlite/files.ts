import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MainstemError } from '../../model/mainstem-error.ts'

/** Where everything is. SQLite adds `-wal` and `-shm` beside the database. */
export interface Files {
  directory: string
  database: string
  lock: string
  blobs: string
}

const OTHERS_MAY_WRITE = 0o022
const OTHERS_MAY_ANYTHING = 0o077

export function filesIn(directory: string): Files {
  return {
    directory,
    database: join(directory, 'mainstem.db'),
    lock: join(directory, 'lock'),
    blobs: join(directory, 'blobs'),
  }
}

/** Makes the directory where there is none. Refused where somebody else could put something into it. */
export function prepareDirectory({ directory }: Files): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const { uid, mode } = statSync(directory)
  const us = process.getuid?.()
  if (us !== undefined && uid !== us) {
    throw new MainstemError('forbidden', `${directory} belongs to another user`)
  }
  if ((mode & OTHERS_MAY_WRITE) !== 0) {
    throw new MainstemError('forbidden', `${directory} is open to other users; run: chmod 700 ${directory}`)
  }
}

/** Files are ours alone before anything is in them; SQLite gives its own files the mode of the database. */
export function prepareFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'ax', 0o600))
  else if ((statSync(path).mode & OTHERS_MAY_ANYTHING) !== 0) chmodSync(path, 0o600)
}

/**
 * Makes the database file at the first start. The folder for blobs comes last, so where that is and the
 * database is not, it was there and is lost: an empty one in its place would hide that.
 */
export function prepareDatabase(files: Files): void {
  checkNotLost(files)
  prepareFile(files.database)
  sync(files.directory)
}

export function prepareBlobs(files: Files): void {
  mkdirSync(files.blobs, { recursive: true, mode: 0o700 })
}

/** SQLite would make an empty database of a missing one, and throw the log beside it away. */
export function checkNotLost({ database, blobs }: Files): void {
  if ((statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0) return
  const left = [`${database}-wal`, blobs].find((path) => existsSync(path))
  if (left === undefined) return
  throw new MainstemError(
    'storage_failed',
    `${database} is missing or empty, but ${left} is there: put the database back, or move the folder away`,
  )
}

/** A new name is safe from a power cut when its folder is. */
function sync(directory: string): void {
  const folder = openSync(directory, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
