import { abandonedFolders } from '../process/run-folders.ts'
import { guardedRuns } from './orphan-guard.ts'
import { processTable } from './process-table.ts'
import { sweep } from './sweep.ts'

/** The program that `OrphanGuard` executes after the process that owned these runs has exited. */
const { runIds, folders } = guardedRuns(process.argv.slice(2))
// The process may have had folders beside those of its runs, such as the one with its socket.
const others = abandonedFolders(processTable(process.platform))
await sweep(runIds, { folders: [...new Set([...folders, ...others])] })
