import { countSyncs, hasStrace } from './fsync/count-syncs.ts'

/** `node faults/fsync.ts`: counts the fsyncs of the store's log with strace; each commit needs one. */
const COMMITS = 20
if (!(await hasStrace())) throw new Error('strace is not installed, or not allowed to trace here')
const syncs = await countSyncs('power', COMMITS)
const missing = Math.max(0, COMMITS - syncs)
process.stdout.write(`commits ${COMMITS} fsyncs ${syncs}: ${missing} commits without an fsync\n`)
process.exitCode = missing === 0 ? 0 : 1
