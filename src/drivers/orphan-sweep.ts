import { guardedRuns } from './orphan-guard.ts'
import { sweep } from './sweep.ts'

/** The program that `OrphanGuard` becomes when the process that owned these runs is gone. */
const { runIds, folders } = guardedRuns(process.argv.slice(2))
await sweep(runIds, { folders })
