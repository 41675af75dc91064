import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessLaunch } from '../agents/agent.ts'
import { MainstemError } from '../model/index.ts'

/** As `filePath` writes it. */
const PLACE = /\0([^\0]+)\0/g

/** Programs take pictures from lists and from prompts, where other characters end a path or part it in two. */
const PLAIN = /^[\p{L}\p{N}_./+:~=-]*$/u

/** Writes the files of a launch into a folder of its own, and puts their paths where the launch names them. */
export function placeFiles(launch: ProcessLaunch, folder: string): ProcessLaunch {
  const { files = [], argv, env } = launch
  if (files.length === 0) return launch
  for (const { name, text, encoding } of files) {
    if (encoding && !PLAIN.test(folder))
      throw new MainstemError('unsupported_option', `no picture can be handed over from ${folder}`)
    writeFileSync(join(folder, name), text, { mode: 0o600, flag: 'wx', encoding: encoding ?? 'utf8' })
  }
  const placed = (word: string) => word.replace(PLACE, (_, name: string) => join(folder, name))
  const [program, ...args] = argv
  return {
    ...launch,
    argv: [program, ...args.map(placed)],
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, placed(value)])),
  }
}
