import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The CLI of this package, relative to this file: built, or as source. */
const MAIN = ['../../cli/main.js', '../../cli/main.ts']

/**
 * The command that runs `mainstem`: the CLI of this package, which need not be on the PATH. In a bundled application the
 * file does not exist, and the PATH decides.
 */
export function ownCommand(): [string, ...string[]] {
  const main = MAIN.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync)
  return main === undefined ? ['mainstem'] : [process.execPath, main]
}
