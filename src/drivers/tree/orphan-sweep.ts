import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { abandonedFolders } from '../process/run-folders.ts'
import { ABANDONED, guardedRuns } from './orphan-guard.ts'
import { processTable } from './process-table.ts'
import { sweep } from './sweep.ts'

/** The program that `OrphanGuard` executes after the process that owned these runs has exited. */
const { runIds, folders, spools } = guardedRuns(process.argv.slice(2))
// The next server finds that nobody came back in time, not that somebody stopped the agent.
for (const spool of spools) writeFileSync(join(spool, ABANDONED), '', { mode: 0o600 })
// The process may have had folders beside those of its runs, such as the one with its socket.
const others = abandonedFolders(processTable(process.platform))
await sweep(runIds, { folders: [...new Set([...folders, ...others])] })
