import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RUN_MARKER } from '../process/environment.ts'
import { abandonedFolders } from '../process/run-folders.ts'
import { SpoolFolder } from '../spool/spool-folder.ts'
import { ABANDONED, guardedRuns } from './orphan-guard.ts'
import { processTable } from './process-table.ts'
import { sweep } from './sweep.ts'

/** The program that `OrphanGuard` executes after the process that owned these runs has exited. */
const { runIds, folders, spools } = guardedRuns(process.argv.slice(2))
const table = processTable(process.platform)
const roots = spools.flatMap(({ runId, path }) => {
  return new SpoolFolder(path).livingLauncher(table, `${RUN_MARKER}=${runId}`) ?? []
})
// The next server finds that nobody came back in time, not that somebody stopped the agent.
for (const { path } of spools) writeFileSync(join(path, ABANDONED), '', { mode: 0o600 })
// The process may have had folders beside those of its runs, such as the one with its socket.
const others = abandonedFolders(table)
await sweep(runIds, { roots, folders: [...new Set([...folders, ...others])] })
