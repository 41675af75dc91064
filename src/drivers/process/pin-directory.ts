import { closeSync, constants, openSync, readlinkSync, realpathSync } from 'node:fs'
import { MainstemError } from '../../model/index.ts'

/** An open directory in which a child can be started. */
export interface PinnedDirectory extends Disposable {
  /** Resolves to the directory that was checked, even if its original path now points elsewhere. */
  path: string
}

/**
 * Opens a directory by its real path. Throws `forbidden` if a symbolic link has replaced a part of that path. On Linux
 * the child starts in the opened directory itself, so replacing the path between check and start has no effect.
 */
export function pinDirectory(realPath: string): PinnedDirectory {
  if (process.platform !== 'linux') {
    checkSame(realPath, realpathSync(realPath))
    return { path: realPath, [Symbol.dispose]: () => undefined }
  }
  const opened = openSync(realPath, constants.O_RDONLY | constants.O_DIRECTORY)
  const path = `/proc/self/fd/${opened}`
  try {
    checkSame(realPath, readlinkSync(path))
  } catch (thrown) {
    closeSync(opened)
    throw thrown
  }
  // The child changes its directory before the descriptor is closed by exec.
  return { path, [Symbol.dispose]: () => closeSync(opened) }
}

function checkSame(expected: string, found: string): void {
  if (found === expected) return
  throw new MainstemError('forbidden', `cwd: ${expected} was replaced by a link`, { field: 'cwd' })
}
