import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessLaunch } from '../../agents/agent.ts'
import { MainstemError } from '../../model/index.ts'

/** The placeholder format that `filePath` writes. */
const PLACEHOLDER = /\0([^\0]+)\0/g

/** The same in a JSON text, where the path is escaped as well. */
const IN_JSON = /\\u0000((?:(?!\\u0000).)+)\\u0000/g

/** Agents read image paths from lists and from prompts, where other characters would end or split a path. */
const PLAIN = /^[\p{L}\p{N}_./+:~=-]*$/u

/** Writes the files of a launch into a private folder and substitutes their paths in the launch. */
export function placeFiles(launch: ProcessLaunch, folder: string): ProcessLaunch {
  const { files = [], argv, env } = launch
  if (files.length === 0) return launch
  for (const { name, text, encoding } of files) {
    if (encoding && !PLAIN.test(folder))
      throw new MainstemError(
        'unsupported_option',
        `images cannot be passed to the agent from ${folder}: the path has unsupported characters`,
      )
    writeFileSync(join(folder, name), text, { mode: 0o600, flag: 'wx', encoding: encoding ?? 'utf8' })
  }
  const placed = (word: string) =>
    word
      .replace(PLACEHOLDER, (_, name: string) => join(folder, name))
      .replace(IN_JSON, (_, name: string) => JSON.stringify(join(folder, name)).slice(1, -1))
  const [program, ...args] = argv
  return {
    ...launch,
    argv: [program, ...args.map(placed)],
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, placed(value)])),
  }
}
