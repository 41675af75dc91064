import { guardedRuns } from './orphan-guard.ts'
import { sweep } from './sweep.ts'

/** The program that `OrphanGuard` executes after the process that owned these runs has exited. */
const { runIds, folders } = guardedRuns(process.argv.slice(2))
await sweep(runIds, { folders })
