import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The command of a program that plays a recording, to be set as the program of the agent that was recorded. The folder
 * holds `stdout.jsonl` of a one-shot run or `transcript.jsonl` of a live one, and `exit.json`.
 */
export function recordedAgent(folder: string): readonly [string, ...string[]] {
  const program = new URL(`./recorded-program${extname(import.meta.url)}`, import.meta.url)
  return [process.execPath, fileURLToPath(program), folder]
}
