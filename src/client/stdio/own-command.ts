import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The command line interface of this package, beside this file: built, or as source. */
const MAIN = ['../../cli/main.js', '../../cli/main.ts']

/**
 * How to run `mainstem`: this package's own command, which need not be on the PATH. An application that bundles its
 * dependencies has no such file, and then the PATH decides.
 */
export function ownCommand(): [string, ...string[]] {
  const main = MAIN.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync)
  return main === undefined ? ['mainstem'] : [process.execPath, main]
}
