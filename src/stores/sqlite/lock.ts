import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { codeOf, MainstemError } from '../../model/outcome/mainstem-error.ts'
import { prepareFile } from './files.ts'
import { APPLICATION_ID } from './schema.ts'

const SQLITE_BUSY = 5

/** The lock of a store. */
export interface Lock extends Disposable {
  /**
   * Whether an earlier owner marked this file as the lock of the store. A file without the mark may replace one that
   * was removed while its owner runs, so the database itself has to be checked for another owner.
   */
  readonly isMarked: boolean
  /** Marks the file, and writes beside it that this process is the owner. */
  mark(): void
}

/**
 * One process owns a store. An exclusive SQLite lock on a second database keeps other processes out. The kernel
 * releases it when the process ends, also after `kill -9`.
 */
export function takeLock(path: string): Lock {
  const lock = tryLock(path)
  if (lock) return lock
  throw new MainstemError('storage_failed', `${lockOwner(path)} has this store open (it holds ${path})`, {
    locked: true,
    advice:
      'Use that server, stop it (`mainstem daemon stop` if the command line started it), or use another data directory.',
  })
}

/** Takes the lock, unless another process has it. */
export function tryLock(path: string): Lock | undefined {
  prepareFile(path)
  const isMarked = statSync(path).size > 0
  const lock = new DatabaseSync(path)
  try {
    // In this mode the file stays locked after a commit.
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (thrown) {
    lock.close()
    if (isBusy(thrown)) return undefined
    throw thrown
  }
  return {
    isMarked,
    mark() {
      if (!isMarked) lock.exec(`PRAGMA application_id = ${APPLICATION_ID}; COMMIT`)
      writeLockOwner(path)
    },
    [Symbol.dispose]() {
      removeLockOwner(path)
      lock.close()
    },
  }
}

/**
 * Refuses a database that another process has open. A connection in WAL mode locks the file as long as it is open,
 * and only a connection that is alone can leave that mode.
 */
export function checkAlone(db: DatabaseSync, file: string): void {
  try {
    db.exec('PRAGMA journal_mode = DELETE')
  } catch (thrown) {
    if (!isBusy(thrown)) throw thrown
    throw new MainstemError(
      'storage_failed',
      `another process has ${file} open, and the lock beside it was removed: stop that process first`,
    )
  }
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && thrown.errcode === SQLITE_BUSY
}

/**
 * The process that owns a lock, in a file beside it. Not in the lock itself: a process that closes a file releases every
 * lock that it has on it.
 */
const fileOf = (lock: string) => `${lock}.owner`

/** Processes of two containers may have the same id, so the name of the host belongs to it. */
const OURS = `${process.pid} ${hostname()}`

/** Names this process as the owner. Only error messages need the name, so a failure is ignored. */
export function writeLockOwner(lock: string): void {
  try {
    writeFileSync(fileOf(lock), OURS, { mode: 0o600 })
  } catch {
    removeLockOwner(lock)
  }
}

/** Removes the name, if it is that of this process. Call it before the lock is released. */
export function removeLockOwner(lock: string): void {
  if (readOwner(lock) === OURS) rmSync(fileOf(lock), { force: true })
}

/** Names the owner of a lock for an error message. The name of a process that has ended is ignored. */
export function lockOwner(lock: string): string {
  const owner = readOwner(lock)
  if (owner === OURS) return 'this process'
  const [, pid, host] = /^([1-9]\d*) (.+)$/.exec(owner ?? '') ?? []
  if (pid === undefined) return 'another process'
  if (host !== hostname()) return `process ${pid} on ${host}`
  return isRunning(Number(pid)) ? `process ${pid}` : 'another process'
}

function readOwner(lock: string): string | undefined {
  try {
    return readFileSync(fileOf(lock), 'utf8')
  } catch {
    return undefined
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    return codeOf(thrown) === 'EPERM'
  }
}
