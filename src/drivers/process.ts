import type { ChildProcess } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProcessLaunch } from '../agents/agent.ts'
import { toMainstemError } from '../model/index.ts'
import { type RunGroups, runGroups } from './cgroup.ts'
import type { Driver, Run, RunContext, Timers } from './driver.ts'
import { environmentOf } from './environment.ts'
import { failedRun } from './failed-run.ts'
import { LateRun } from './late-run.ts'
import { placeFiles } from './launch-files.ts'
import { ProcessRun } from './process-run.ts'
import { type ProcessTable, processTable } from './process-table.ts'
import { ProcessTree } from './process-tree.ts'
import { spawnChild, spawnError } from './spawn-child.ts'
import { GRACES, type Graces } from './terminate.ts'
import { systemTimers } from './timers.ts'

export interface ProcessDriverOptions {
  timers?: Timers
  graces?: Graces
  /** Where the allow-listed variables of a child come from. */
  environment?: Readonly<Record<string, string | undefined>>
  platform?: NodeJS.Platform
  /** Longer lines go into a blob. */
  maxLineBytes?: number
  /** Output held for a reader that is behind; then the child has to wait. */
  queueBytes?: number
  /** Groups that a run's processes cannot leave; the system's own unless told otherwise. */
  groups?: RunGroups | undefined
  /** Where the ladder of `stop` begins; SIGINT unless told otherwise. */
  firstSignal?: 'SIGINT' | 'SIGTERM'
}

export const QUEUE_BYTES = 1024 * 1024

/** Runs programs of this machine, each in a session and a temporary directory of its own. */
export function processDriver(given: ProcessDriverOptions = {}): Driver<ProcessLaunch> {
  const options = { groups: runGroups(), ...given }
  return {
    start: (launch, context) => new LateRun(start(launch, context, options)),
  }
}

async function start(
  launch: ProcessLaunch,
  context: RunContext,
  options: ProcessDriverOptions,
): Promise<Run> {
  try {
    const table = processTable(options.platform ?? process.platform)
    // A short name, because sockets are put below it, and their paths may not be long.
    const temporary = mkdtempSync(join(tmpdir(), 'mainstem-'))
    return await startIn(temporary, table, launch, context, options)
  } catch (thrown) {
    return failedRun(toMainstemError(thrown))
  }
}

async function startIn(
  temporary: string,
  table: ProcessTable,
  launch: ProcessLaunch,
  context: RunContext,
  options: ProcessDriverOptions,
): Promise<Run> {
  const cleanUp = () => {
    options.groups?.remove([context.runId])
    return remove(temporary)
  }
  try {
    const placed = placeFiles(launch, temporary)
    const environment = environmentOf(options.environment ?? process.env, placed, context, temporary)
    const { child, stdout } = await spawnChild(placed, context.cwd, environment, temporary)
    return new ProcessRun(child, stdout, {
      tree: treeOf(child, table, context.runId, options.groups),
      blobs: context.blobs,
      timers: options.timers ?? systemTimers,
      graces: options.graces ?? GRACES,
      queueBytes: options.queueBytes ?? QUEUE_BYTES,
      maxLineBytes: options.maxLineBytes,
      firstSignal: options.firstSignal,
      cleanUp,
    })
  } catch (thrown) {
    return failedRun(toMainstemError(thrown), cleanUp)
  }
}

function treeOf(
  child: ChildProcess,
  table: ProcessTable,
  runId: string,
  groups: RunGroups | undefined,
): ProcessTree {
  try {
    // At once: what it has started before stays outside.
    if (child.pid !== undefined) void groups?.enter(runId, child.pid)
    return new ProcessTree(table, [runId], child.pid, groups)
  } catch (thrown) {
    // A child that cannot be watched must not run.
    child.kill('SIGKILL')
    throw spawnError(child.spawnfile, thrown)
  }
}

/** What cannot be removed, such as a directory without write permission, is left to the system's own clean-up. */
async function remove(folder: string): Promise<void> {
  await Promise.allSettled([rm(folder, { recursive: true, force: true, maxRetries: 2 })])
}
