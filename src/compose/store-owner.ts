import { createHash } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'

/**
 * Names the owner of the store in a directory. Each start of a server on it gets the same name; a copy of the
 * directory, or another one at the same path in a container, has another.
 */
export function storeOwner(directory: string): string {
  const { dev, ino } = statSync(directory)
  const place = `${realpathSync(directory)} ${dev} ${ino}`
  return createHash('sha256').update(place).digest('hex').slice(0, 16)
}
