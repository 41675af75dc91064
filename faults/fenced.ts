import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanEnvironment, raiseFence } from '../conformance/fence.ts'
import { cacheFolder, install } from '../conformance/install.ts'
import { PROGRAMS, type Program } from '../conformance/programs.ts'

/** What a run behind the fence is told: its folder, and the installed command of each program. */
export interface FencedPlan {
  readonly folder: string
  readonly commands: Readonly<Record<string, string>>
}

/** The programs with these ids, separated by commas. */
export function programsOf(ids: string): readonly Program[] {
  return ids.split(',').map((id) => {
    const program = PROGRAMS.find((one) => one.id === id)
    if (program) return program
    throw new Error(`There is no program ${id}. Known: ${PROGRAMS.map((one) => one.id).join(', ')}.`)
  })
}

/**
 * Installs real CLIs and runs a script with them, without a network and with nothing of our environment. Returns the
 * reports that the script wrote. `keep` leaves its folder.
 */
export async function runFenced<Plan extends FencedPlan, Report>(
  script: string,
  programs: readonly Program[],
  more: Omit<Plan, keyof FencedPlan>,
  keep: boolean,
): Promise<Report[]> {
  const commands = await installAll(programs)
  // Sockets go below this path, and their paths are limited to about 100 characters.
  const folder = await mkdtemp(join(tmpdir(), 'mi-'))
  try {
    const path = join(folder, 'plan.json')
    writeFileSync(path, JSON.stringify({ ...more, folder, commands }))
    const { prefix } = await raiseFence([folder, cacheFolder()])
    const [program = '', ...args] = [...prefix, process.execPath, script, path]
    const child = spawn(program, args, {
      env: cleanEnvironment(folder),
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`the run behind the fence ended with ${code}`)
    return JSON.parse(readFileSync(`${path}.reports`, 'utf8'))
  } finally {
    if (keep) console.log(`kept: ${folder}`)
    else await rm(folder, { recursive: true, force: true })
  }
}

async function installAll(programs: readonly Program[]): Promise<Record<string, string>> {
  const commands: Record<string, string> = {}
  for (const program of programs) {
    const installed = await install(program)
    if ('failed' in installed) throw new Error(`${program.package}@${program.version}: ${installed.failed}`)
    commands[program.id] = installed.command
  }
  return commands
}

/** Pads the columns of a table, for a terminal. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  return rows.map(line).join('\n')
}
