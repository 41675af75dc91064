import { makeRunFolder } from '../drivers/process/run-folders.ts'
import { processTable } from '../drivers/tree/process-table.ts'

/** Creates a temporary folder that the orphan guard removes if this process is killed. */
export function makeTemporaryFolder(): string {
  return makeRunFolder(processTable(process.platform))
}
