import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The command of a program that replays a recording. Set it as the `command` of the recorded agent. The folder contains
 * `stdout.jsonl` of a one-shot run or `transcript.jsonl` of a live run, and `exit.json`.
 */
export function recordedAgent(folder: string): readonly [string, ...string[]] {
  const program = new URL(`./recorded-program${extname(import.meta.url)}`, import.meta.url)
  return [process.execPath, fileURLToPath(program), folder]
}
