import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'
import { LaunchKind } from '../src/model/index.ts'
import { PROGRAMS } from './programs.ts'
import { SCENARIOS } from './scenarios/index.ts'

/**
 * `yes`: the scenario passed. `no`: it failed as a limit of the program predicts. `ours`: the program has the feature,
 * and Mainstem does not use it. `not run`: the program could not be installed. `red`: anything else.
 */
export const CellState = z.enum(['yes', 'no', 'ours', 'not run', 'red'])
export type CellState = z.infer<typeof CellState>

export const CellResult = z.strictObject({
  program: z.string(),
  version: z.string(),
  launch: LaunchKind,
  scenario: z.string(),
  state: CellState,
  /** The model that the program asked first in this cell. */
  model: z.string().optional(),
  /** Why not. */
  reason: z.string().optional(),
  /** How it failed. */
  seen: z.string().optional(),
  /** A recording of it in this repository. */
  evidence: z.string().optional(),
})
export type CellResult = z.infer<typeof CellResult>

/** Milliseconds of several runs. */
const Spread = z.strictObject({ min: z.int(), median: z.int(), max: z.int() })
export type Spread = z.infer<typeof Spread>

/** Time from a prompt to the first text, with the process started for it and with a running process. */
export const Warmth = z.strictObject({
  program: z.string(),
  version: z.string(),
  runs: z.int().positive(),
  cold: Spread,
  warm: Spread,
})
export type Warmth = z.infer<typeof Warmth>

export const Results = z.strictObject({ cells: z.array(CellResult), warmth: z.array(Warmth) })
export type Results = z.infer<typeof Results>

export const RESULTS_FILE = 'conformance/results.json'

export function readResults(path = RESULTS_FILE): Results {
  if (!existsSync(path)) return { cells: [], warmth: [] }
  return Results.parse(JSON.parse(readFileSync(path, 'utf8')))
}

/** A cell by its name, as it is shown and looked for. */
export function nameOf({ program, launch, scenario }: Omit<CellResult, 'version' | 'state'>): string {
  return `${program}/${launch}/${scenario}`
}

const LAUNCHES = LaunchKind.options

/** New results replace old ones; results of removed programs, versions and scenarios are dropped. */
export function merge(before: Results, now: Results): Results {
  const order = ({ program, launch, scenario }: Pick<CellResult, 'program' | 'launch' | 'scenario'>) => [
    PROGRAMS.findIndex(({ id }) => id === program),
    LAUNCHES.indexOf(launch),
    SCENARIOS.findIndex(({ id }) => id === scenario),
  ]
  const cells = new Map([...before.cells, ...now.cells].map((cell) => [nameOf(cell), cell]))
  const warmth = new Map([...before.warmth, ...now.warmth].map((one) => [one.program, one]))
  return {
    cells: [...cells.values()]
      .filter((cell) => order(cell).every((place) => place !== -1) && isPinned(cell))
      .sort((a, b) => compare(order(a), order(b))),
    warmth: PROGRAMS.flatMap(({ id }) => warmth.get(id) ?? []).filter(isPinned),
  }
}

function isPinned({ program, version }: { program: string; version: string }): boolean {
  return PROGRAMS.some((one) => one.id === program && one.version === version)
}

function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((place, index) => place - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0
}

/** Cells that passed before and fail now. A cell that could not be run is no regression. */
export function stepsBack(before: Results, now: Results): CellResult[] {
  const shown = new Set(before.cells.filter(({ state }) => state === 'yes').map(nameOf))
  return now.cells.filter(({ state, ...cell }) => {
    return shown.has(nameOf(cell)) && state !== 'yes' && state !== 'not run'
  })
}
