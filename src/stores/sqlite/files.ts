import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeOf, MainstemError } from '../../model/outcome/mainstem-error.ts'

/** The paths of a store. SQLite adds `-wal` and `-shm` beside the database. */
export interface Files {
  directory: string
  database: string
  /** The index of the search: built from the database, and built anew where it is missing. */
  index: string
  lock: string
  /** The last commit, to notice a WAL that was removed. */
  lastCommit: string
  blobs: string
}

const OTHERS_MAY_WRITE = 0o022
const OTHERS_MAY_ANYTHING = 0o077

export function filesIn(directory: string): Files {
  return {
    directory,
    database: join(directory, 'mainstem.db'),
    index: join(directory, 'search.db'),
    lock: join(directory, 'lock'),
    lastCommit: join(directory, 'last-commit'),
    blobs: join(directory, 'blobs'),
  }
}

/** Creates the directory. Refuses one that other users can write to. */
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

/** Below this, the next commits would fill the disk. */
const MIN_FREE_BYTES = 256 * 1024

/** Throws if the file system has no room, or is read-only. Writes nothing. */
export function checkWritable({ directory, database }: Files): void {
  const { bavail, bsize } = statfsSync(directory)
  if (bavail * bsize < MIN_FREE_BYTES)
    throw new MainstemError('storage_failed', `the disk of ${directory} is full`)
  accessSync(database, constants.W_OK)
}

/** Creates the file with mode 0600. SQLite uses the mode of the database for its other files. */
export function prepareFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'ax', 0o600))
  else if ((statSync(path).mode & OTHERS_MAY_ANYTHING) !== 0) chmodSync(path, 0o600)
}

/**
 * Creates the database file at the first start. The folder for blobs is created last, so if that exists and the
 * database does not, the database was lost: an empty one would hide that.
 */
export function prepareDatabase(files: Files): void {
  checkNotLost(files)
  prepareFile(files.database)
  sync(files.directory)
}

export function prepareBlobs(files: Files): void {
  mkdirSync(files.blobs, { recursive: true, mode: 0o700 })
}

/** SQLite would create an empty database for a missing one and discard its WAL. */
export function checkNotLost({ database, blobs }: Files): void {
  if ((statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0) return
  const left = [`${database}-wal`, blobs].find((path) => existsSync(path))
  if (left === undefined) return
  throw new MainstemError(
    'storage_failed',
    `${database} is missing or empty, but ${left} is there: put the database back, or move the folder away`,
  )
}

/** A new file survives a power loss only after its directory is synced. */
function sync(directory: string): void {
  const folder = openSync(directory, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

const DIGITS = 16

/**
 * The highest row of the log that was committed, in a file beside the database. SQLite opens a database without its WAL
 * as if nothing had been in it; this file shows that commits are missing.
 */
export class LastCommit implements Disposable {
  readonly #fd: number

  /** Throws if the log ends before the last commit. */
  constructor(path: string, database: string, logTop: number) {
    const last = lastIn(path)
    if (last > logTop) throw missing(path, database, last - logTop)
    this.#fd = openSync(path, last === 0 ? 'w' : 'r+', 0o600)
  }

  /**
   * Not flushed: only a crash of the machine loses it, and it is written after the commit is on disk. A failure is
   * therefore none of the commit: the file stays behind until the next one, and shows fewer missing commits.
   */
  write(id: number): boolean {
    try {
      writeSync(this.#fd, `${String(id).padStart(DIGITS, '0')}\n`, 0)
      return true
    } catch {
      return false
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd)
  }
}

function lastIn(path: string): number {
  try {
    return Number(/^\d{16}$/m.exec(readFileSync(path, 'utf8'))?.[0] ?? 0)
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return 0
    throw thrown
  }
}

function missing(path: string, database: string, count: number): MainstemError {
  const commits = count === 1 ? 'the last commit is' : `the last ${count} commits are`
  return new MainstemError(
    'storage_failed',
    `${commits} missing in ${database}: its -wal file was removed, or an older database was put in its place`,
    { advice: `Put the -wal file back. If you restored a backup, or the file is lost, delete ${path}.` },
  )
}
