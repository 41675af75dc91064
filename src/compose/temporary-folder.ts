import { processTable } from '../drivers/process-table.ts'
import { makeRunFolder } from '../drivers/run-folders.ts'

/** Creates a temporary folder that the orphan guard removes if this process is killed. */
export function makeTemporaryFolder(): string {
  return makeRunFolder(processTable(process.platform))
}
