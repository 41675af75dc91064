import { lstatSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../model/outcome/mainstem-error.ts'
import { RUN_MARKER } from '../process/environment.ts'
import { SPOOL_FILES, SpoolFolder } from '../spool/spool-folder.ts'
import { type GuardedSpool, guardedRuns } from './orphan-guard.ts'
import { processTable } from './process-table.ts'
import { sweep } from './sweep.ts'

/** The disk fills meanwhile. */
const LOOK_MS = 100

/**
 * The program that `OrphanGuard` executes while no server reads what its runs write. It suspends an agent that has written
 * more than `most` bytes since. The next server continues it; without one, it ends with the grace. It ends at once if its
 * folder was removed, because no server can continue it. Ends its guard as soon as there is no run left to decide about.
 */
const [most, ...args] = process.argv.slice(2)
const guard = Number(args[0])
const table = processTable(process.platform)
/** The output of each run at the first look. */
const first = new Map<string, number>()
const suspended = new Set<string>()
const swept = new Set<string>()

while (process.ppid === guard) {
  const { spools, gone } = guardedRuns(args)
  const lost = gone.filter(({ runId }) => !swept.has(runId))
  for (const { runId } of lost) swept.add(runId)
  if (lost.length > 0)
    await sweep(
      lost.map(({ runId }) => runId),
      { folders: lost.map(({ folder }) => folder) },
    )
  // This guard and its `sleep` would only wait for the end of the grace.
  if (spools.length === 0) signal(guard, 'SIGKILL')
  for (const run of spools) {
    const { path } = run
    const written = bytesIn(path)
    const before = first.get(path) ?? written
    first.set(path, before)
    if (!suspended.has(path) && written - before > Number(most) && suspend(run)) suspended.add(path)
  }
  await sleep(LOOK_MS)
}

function bytesIn(path: string): number {
  const sizes = Object.values(SPOOL_FILES).map(
    (name) => lstatSync(new SpoolFolder(path).file(name), { throwIfNoEntry: false })?.size ?? 0,
  )
  return Math.max(...sizes)
}

/** False for an agent that has ended, that the sweep ends, or that a server continues. */
function suspend({ runId, path }: GuardedSpool): boolean {
  const folder = new SpoolFolder(path)
  const launcher = folder.exit ? undefined : folder.livingLauncher(table, `${RUN_MARKER}=${runId}`)
  if (!launcher || !signal(launcher.pid, 'SIGSTOP')) return false
  // A server that claimed the run since may have continued it before it was suspended. A later claim continues it.
  if (guardedRuns(args).spools.some((run) => run.path === path)) return true
  signal(launcher.pid, 'SIGCONT')
  return false
}

function signal(group: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(-group, name)
    return true
  } catch (thrown) {
    if (codeOf(thrown) === 'ESRCH') return false
    throw thrown
  }
}
