import { realpathSync, statSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { MainstemError } from '../../model/index.ts'

/**
 * Returns the real path of a directory below one of the roots, which are real paths themselves. Every failure has the
 * same message, so that callers cannot probe which paths exist.
 */
export async function directoryBelow(
  roots: readonly string[],
  directory: string,
  field = 'cwd',
): Promise<string> {
  const real = isAbsolute(directory) ? await realDirectory(directory) : undefined
  if (real === undefined || !roots.some((root) => isBelow(root, real))) {
    throw new MainstemError('forbidden', `${field}: not a directory below the configured roots`, {
      field,
      advice: 'Use an existing directory below a root, or have the operator add it to `roots`.',
    })
  }
  return real
}

async function realDirectory(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns whether a directory that `directoryBelow` returned is unchanged: not moved, not replaced by a symbolic link,
 * and below the current roots.
 */
export function isStillBelow(roots: readonly string[], directory: string): boolean {
  try {
    const isSame = realpathSync(directory) === directory && statSync(directory).isDirectory()
    return isSame && roots.some((root) => isBelow(root, directory))
  } catch {
    return false
  }
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
