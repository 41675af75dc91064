import { type RunGroups, runGroups } from './cgroup.ts'
import type { Timers } from './driver.ts'
import { processTable } from './process-table.ts'
import { ProcessTree } from './process-tree.ts'
import { GRACES, type Graces, terminate } from './terminate.ts'
import { systemTimers } from './timers.ts'

interface SweepOptions {
  timers?: Timers
  graces?: Graces
  platform?: NodeJS.Platform
  groups?: RunGroups | undefined
}

/**
 * Ends what runs of an earlier life of ours left behind, and returns the pids that nothing could end.
 * Processes are known by the marker they carry and the group they are in, so that no pid of an old record can hit a
 * stranger.
 */
export async function sweep(runIds: readonly string[], given: SweepOptions = {}): Promise<number[]> {
  const options = { groups: runGroups(), ...given }
  const table = processTable(options.platform ?? process.platform)
  const tree = new ProcessTree(table, runIds, undefined, options.groups)
  const left = await terminate(tree, options.graces ?? GRACES, options.timers ?? systemTimers, 'SIGTERM')
  options.groups?.remove(runIds)
  return left.map(({ pid }) => pid)
}
