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

/** The command lines that the protocol document prints for agents; the real programs do not accept all of them. */
const DOCUMENTED: ReadonlySet<string> = new Set([
  'codex exec --output-jsonl',
  'codex exec --json',
  'gemini -p --output-format stream-json',
])

/**
 * The command line of a transport. One that the document prints for an agent runs that agent through Mainstem, because
 * the program itself does not take calls.
 */
export function commandLine(command: string | undefined, args: readonly string[]): [string, ...string[]] {
  if (command === undefined) return [...ownCommand(), ...args]
  return DOCUMENTED.has([command, ...args].join(' ')) ? [...ownCommand(), 'stdio'] : [command, ...args]
}
