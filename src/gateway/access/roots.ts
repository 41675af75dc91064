import { realpathSync, statSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { MainstemError } from '../../model/index.ts'

/**
 * The real path of a directory below one of the roots, which are real paths themselves. Every other case is told
 * in the same words, so that nobody can ask what exists elsewhere.
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
 * True while a directory that `directoryBelow` returned is still the same place: not moved, not replaced by a link,
 * and below the roots of today.
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
