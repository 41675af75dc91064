import { createHash, randomUUID } from 'node:crypto'
import { bootId } from '../drivers/tree/boot-id.ts'

/**
 * Names a process among those that register under the name of a node. It is the same for all servers on one data
 * directory since the system was started: only one of them runs at a time, because it holds the lock of the directory.
 * So a server that was killed is followed by the next one at once, without waiting for its registration to expire.
 */
export function processIdOf(owner: string | undefined): string {
  const boot = bootId()
  // Without a name of the start, a process on another machine that shares the directory could not be told from an
  // earlier one here.
  if (boot === undefined || owner === undefined) return randomUUID()
  return createHash('sha256').update(`${boot} ${owner}`).digest('hex').slice(0, 32)
}
