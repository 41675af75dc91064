import type { ChildProcess } from 'node:child_process'
import type { ProcessLaunch } from '../agents/agent.ts'
import { type MainstemError, toMainstemError } from '../model/index.ts'
import type { Driver, Run, RunContext, Timers } from './driver.ts'
import { environmentOf, ownedRun } from './process/environment.ts'
import { failedRun } from './process/failed-run.ts'
import { FrameQueue } from './process/frame-queue.ts'
import { placeFiles } from './process/launch-files.ts'
import { pipeChannels } from './process/pipe-channels.ts'
import { ProcessRun } from './process/process-run.ts'
import { makeRunFolder, removeFolder } from './process/run-folders.ts'
import { spawnChild, spawnError } from './process/spawn-child.ts'
import { GRACES, type Graces } from './process/terminate.ts'
import { systemTimers } from './timers.ts'
import { type RunGroups, runGroups } from './tree/cgroup.ts'
import { type OrphanGuard, orphanGuard } from './tree/orphan-guard.ts'
import { type ProcessTable, processTable } from './tree/process-table.ts'
import { ProcessTree } from './tree/process-tree.ts'

export interface ProcessDriverOptions {
  timers?: Timers
  graces?: Graces
  /** Source of the allow-listed variables of a child. */
  environment?: Readonly<Record<string, string | undefined>>
  platform?: string
  /** Lines longer than this are stored as a blob. */
  maxLineBytes?: number
  /** Bytes buffered for a slow consumer; beyond them the child blocks. */
  queueBytes?: number
  /** Marks every process of this driver; the next owner of the same name ends what is left of them. */
  owner?: string | undefined
  /** Control groups that contain a run's processes. Defaults to those of the system. */
  groups?: RunGroups | undefined
  /** Terminates the runs when this process dies. Defaults to one guard for the whole process. */
  guard?: Pick<OrphanGuard, 'add'>
  /** The first signal that `stop` sends. Defaults to SIGINT. */
  firstSignal?: 'SIGINT' | 'SIGTERM'
}

export const QUEUE_BYTES = 1024 * 1024

/** Runs local programs, each in its own process session and temporary directory. */
export function processDriver(given: ProcessDriverOptions = {}): Driver<ProcessLaunch> {
  const options = { groups: runGroups(), ...given }
  return {
    start(launch, given) {
      const { owner } = options
      const context = owner === undefined ? given : { ...given, runId: ownedRun(owner, given.runId) }
      try {
        const table = processTable(options.platform ?? process.platform)
        return startIn(folderFor(launch, table), table, launch, context, options)
      } catch (thrown) {
        return failedRun(toMainstemError(thrown))
      }
    },
  }
}

function startIn(
  temporary: string,
  table: ProcessTable,
  launch: ProcessLaunch,
  context: RunContext,
  options: ProcessDriverOptions,
): Run {
  let release: (() => void) | undefined
  const cleanUp = async () => {
    options.groups?.remove([context.runId])
    await removeFolder(temporary)
    release?.()
  }
  try {
    release = (options.guard ?? orphanGuard).add(context.runId, temporary)
    const placed = placeFiles(launch, temporary)
    const environment = environmentOf(options.environment ?? process.env, placed, context, temporary)
    const child = spawnChild(placed, context, environment)
    if (child.pid === undefined) return failedRun(startError(child), cleanUp)
    const queue = new FrameQueue(options.queueBytes ?? QUEUE_BYTES)
    const reading = { queue, values: context.values, maxLineBytes: options.maxLineBytes }
    return new ProcessRun(pipeChannels(child, reading), {
      tree: treeOf(child, table, context.runId, options.groups),
      now: () => table.now(),
      timers: options.timers ?? systemTimers,
      graces: options.graces ?? GRACES,
      queue,
      firstSignal: options.firstSignal,
      cleanUp,
    })
  } catch (thrown) {
    return failedRun(toMainstemError(thrown), cleanUp)
  }
}

/** Waits for the `error` event of a child that has no pid. */
async function startError(child: ChildProcess): Promise<MainstemError> {
  const thrown = await new Promise<Error>((resolve) => child.once('error', resolve))
  return spawnError(child.spawnfile, thrown)
}

function treeOf(
  child: ChildProcess,
  table: ProcessTable,
  runId: string,
  groups: RunGroups | undefined,
): ProcessTree {
  try {
    // Immediately: processes that the child starts before this are outside the group.
    if (child.pid !== undefined) void groups?.enter(runId, child.pid)
    return new ProcessTree(table, [runId], child.pid, groups)
  } catch (thrown) {
    // A child whose processes cannot be tracked must not run.
    child.kill('SIGKILL')
    throw spawnError(child.spawnfile, thrown)
  }
}

function folderFor({ argv: [program] }: ProcessLaunch, table: ProcessTable): string {
  try {
    return makeRunFolder(table)
  } catch (thrown) {
    throw spawnError(program, thrown)
  }
}
