import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessLaunch } from '../agents/agent.ts'

/** As `filePath` writes it. */
const PLACE = /\0([^\0]+)\0/g

/** Writes the files of a launch into a folder of its own, and puts their paths where the launch names them. */
export function placeFiles(launch: ProcessLaunch, folder: string): ProcessLaunch {
  const { files = [], argv, env } = launch
  if (files.length === 0) return launch
  for (const { name, text } of files) writeFileSync(join(folder, name), text, { mode: 0o600, flag: 'wx' })
  const placed = (word: string) => word.replace(PLACE, (_, name: string) => join(folder, name))
  const [program, ...args] = argv
  return {
    ...launch,
    argv: [program, ...args.map(placed)],
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, placed(value)])),
  }
}
