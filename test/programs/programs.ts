import { installLocked } from '../../scripts/tools.ts'

/** The folder with the `node_modules` of the programs that tests start: a browser and a database. */
export function testPrograms(): Promise<string> {
  return installLocked(import.meta.dirname, { scripts: true })
}
