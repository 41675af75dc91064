import { DatabaseSync } from 'node:sqlite'
import { MainstemError } from '../../model/mainstem-error.ts'
import { prepareFile } from './files.ts'

const SQLITE_BUSY = 5

/**
 * One process owns a store. SQLite's own file lock on an empty database is what keeps others out: the kernel
 * takes it back when the process dies, however it dies, so there is nothing to clean up.
 */
export function takeLock(path: string): Disposable {
  const lock = tryLock(path)
  if (lock) return lock
  throw new MainstemError('storage_failed', `another process has this store open (it holds ${path})`)
}

/** The lock, unless somebody has it. */
export function tryLock(path: string): Disposable | undefined {
  prepareFile(path)
  const lock = new DatabaseSync(path)
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (thrown) {
    lock.close()
    if (thrown instanceof Error && 'errcode' in thrown && thrown.errcode === SQLITE_BUSY) return undefined
    throw thrown
  }
  return { [Symbol.dispose]: () => lock.close() }
}
