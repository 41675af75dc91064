import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import * as z from 'zod'
import type { Installed } from './install.ts'
import { PROGRAMS, type Program } from './programs.ts'
import { CellResult, nameOf, type Results } from './results.ts'

const Changed = CellResult.pick({ program: true, launch: true, scenario: true, reason: true }).extend({
  before: CellResult.shape.state,
  now: CellResult.shape.state,
})

/** What the newest version of a program does differently from the tested one. */
const Newest = z.strictObject({
  program: z.string(),
  tested: z.string(),
  newest: z.string(),
  /** Why it could not be played. */
  failed: z.string().optional(),
  played: z.int().nonnegative(),
  changed: z.array(Changed),
  newFlags: z.array(z.string()),
  lostFlags: z.array(z.string()),
})
export type Newest = z.infer<typeof Newest>

/** A run against the newest versions. */
export const LatestRun = z.strictObject({ date: z.iso.date(), programs: z.array(Newest) })
export type LatestRun = z.infer<typeof LatestRun>

const FILE = 'conformance/latest.json'
const HELP_MS = 60_000

const run = promisify(execFile)

export function readLatest(): LatestRun | undefined {
  return existsSync(FILE) ? LatestRun.parse(JSON.parse(readFileSync(FILE, 'utf8'))) : undefined
}

export function writeLatest(latest: LatestRun): void {
  writeFileSync(FILE, `${JSON.stringify(latest, undefined, 2)}\n`)
}

/** The programs of the matrix; of several versions and settings of one package, the first. */
export function newestPrograms(): readonly Program[] {
  const seen = new Set<string>()
  return PROGRAMS.filter(({ package: name }) => !seen.has(name) && seen.add(name))
}

/** The version that npm installs by default. */
export async function newestVersion({ package: name }: Program): Promise<string> {
  const { stdout } = await run('npm', ['view', name, 'version'], { timeout: HELP_MS })
  return stdout.trim()
}

/** Compares a program at its newest version with the tested one. `now` has the cells that were played. */
export async function compareNewest(
  program: Program,
  newest: string,
  { tested, installed }: { tested: Installed; installed: Installed },
  before: Results,
  now: Results,
): Promise<Newest> {
  const base = { program: program.id, tested: program.version, newest }
  const empty = { played: 0, changed: [], newFlags: [], lostFlags: [] }
  if ('failed' in installed) return { ...base, ...empty, failed: installed.failed }
  if (newest === program.version) return { ...base, ...empty }
  const cells = now.cells.filter((cell) => cell.program === program.id)
  const known = new Map(before.cells.map((cell) => [nameOf(cell), cell.state]))
  const changed = cells.flatMap(({ program: id, launch, scenario, state, reason }) => {
    const was = known.get(nameOf({ program: id, launch, scenario })) ?? 'not run'
    if (was === state) return []
    return [{ program: id, launch, scenario, before: was, now: state, ...(reason && { reason }) }]
  })
  const [old, fresh] = [await flagsOf(tested), await flagsOf(installed)]
  return {
    ...base,
    played: cells.length,
    changed,
    newFlags: [...fresh].filter((flag) => !old.has(flag)),
    lostFlags: [...old].filter((flag) => !fresh.has(flag)),
  }
}

/** The long options in the help of a program. */
async function flagsOf(installed: Installed): Promise<ReadonlySet<string>> {
  if ('failed' in installed) return new Set()
  const { stdout, stderr } = await run(installed.command, ['--help'], { timeout: HELP_MS }).catch(() => ({
    stdout: '',
    stderr: '',
  }))
  return new Set(`${stdout}\n${stderr}`.match(/(?<![\w-])--[a-z][\w-]*/g))
}

/** The section of the page about the last run. */
export function latestSection({ date, programs }: LatestRun): string[] {
  const words = (list: readonly string[]) => list.map((one) => `\`${one}\``).join(', ')
  const rows = programs.map(({ program, tested, newest, failed, played, changed, newFlags, lostFlags }) => {
    const cells = failed ?? (newest === tested ? 'the tested version' : `${played} played`)
    const changes = changed.map(
      ({ launch, scenario, before, now, reason }) =>
        `${launch}/${scenario}: ${before} → ${now}${reason === undefined ? '' : ` (${reason})`}`,
    )
    const row = [
      `\`${program}\``,
      tested,
      newest,
      cells,
      changes.join('; '),
      words(newFlags),
      words(lostFlags),
    ]
    return `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  })
  return [
    '## Newest versions',
    `Compared on ${date}. \`npm run conformance -- --latest\` installs the newest version of every program, plays the cells of those that changed, and writes this table: cells with another state than the tested version, and options that its help gained or lost. A frame that no rule knows makes its cell red, and is named.`,
    [
      '| program | tested | newest | cells | changed | new options | lost options |',
      '|---|---|---|---|---|---|---|',
      ...rows,
    ].join('\n'),
  ]
}
