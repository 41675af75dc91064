import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** Returns whether the path is below the folder, with symbolic links resolved; false if it cannot be resolved. */
export function isInside(path: string, folder: string): boolean {
  try {
    return isBelow(realpathSync(folder), realPath(resolve(folder, path)))
  } catch {
    return false
  }
}

/** Both paths must be real paths. */
function isBelow(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** A missing file is located by its folder. A dangling link is rejected, because its target may be created anywhere. */
function realPath(path: string): string {
  const there = lstatSync(path, { throwIfNoEntry: false })
  const parent = dirname(path)
  if (there || parent === path) return realpathSync(path)
  return join(realPath(parent), basename(path))
}
