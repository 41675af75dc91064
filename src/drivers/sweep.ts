import type { Timers } from './driver.ts'
import { processTable } from './process-table.ts'
import { ProcessTree } from './process-tree.ts'
import { GRACES, type Graces, terminate } from './terminate.ts'
import { systemTimers } from './timers.ts'

interface SweepOptions {
  timers?: Timers
  graces?: Graces
  platform?: NodeJS.Platform
}

/**
 * Ends what runs of an earlier life of ours left behind, and returns the pids that nothing could end.
 * Processes are known by the marker they carry, so that no pid of an old record can hit a stranger.
 */
export async function sweep(runIds: readonly string[], options: SweepOptions = {}): Promise<number[]> {
  const tree = new ProcessTree(processTable(options.platform ?? process.platform), runIds)
  const left = await terminate(tree, options.graces ?? GRACES, options.timers ?? systemTimers, 'SIGTERM')
  return left.map(({ pid }) => pid)
}
