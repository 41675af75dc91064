import type { Timers } from '../driver.ts'
import { removeFolder } from '../process/run-folders.ts'
import { GRACES, type Graces, terminate } from '../process/terminate.ts'
import { systemTimers } from '../timers.ts'
import { type RunGroups, runGroups } from './cgroup.ts'
import { processTable } from './process-table.ts'
import { type Abandoned, ProcessTree } from './process-tree.ts'

interface SweepOptions extends Abandoned {
  timers?: Timers
  graces?: Graces
  platform?: string
  groups?: RunGroups | undefined
}

/**
 * Terminates processes that runs of an earlier process left behind, and returns the pids that survived. Identifies
 * processes by their markers and control group, so that a reused pid is never signalled. Removes folders after the
 * processes that use them have ended.
 */
export async function sweep(runIds: readonly string[], given: SweepOptions = {}): Promise<number[]> {
  const options = { groups: runGroups(), ...given }
  const table = processTable(options.platform ?? process.platform)
  const { groups, owner, except = [], folders = [], roots = [] } = options
  const owned = owner === undefined ? [] : (groups?.runsOf(owner) ?? [])
  const grouped = owned.filter((runId) => !except.includes(runId))
  const over = [...runIds, ...grouped]
  const tree = new ProcessTree(table, over, undefined, groups, { owner, except, folders, roots })
  const left = await terminate(tree, options.graces ?? GRACES, options.timers ?? systemTimers, 'SIGTERM')
  groups?.remove(over)
  await Promise.all(folders.map(removeFolder))
  return left.map(({ pid }) => pid)
}
