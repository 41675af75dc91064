import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'

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
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM'
  }
}
