import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** Is the path below the folder, with every link followed? What cannot be followed is not. */
export function isInside(path: string, folder: string): boolean {
  try {
    return isBelow(realpathSync(folder), realPath(resolve(folder, path)))
  } catch {
    return false
  }
}

/** Both are real paths. */
function isBelow(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** A file that is not there yet is where its folder is; a link that leads nowhere may be made to lead anywhere. */
function realPath(path: string): string {
  const there = lstatSync(path, { throwIfNoEntry: false })
  const parent = dirname(path)
  if (there || parent === path) return realpathSync(path)
  return join(realPath(parent), basename(path))
}
