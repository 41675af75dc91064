import type { Cell } from './cell.ts'
import { PROGRAMS } from './programs.ts'
import { SCENARIOS } from './scenarios/index.ts'
import type { Launch } from './stage.ts'

/** The selected cells. */
export interface Choice {
  readonly programs: readonly string[]
  readonly scenarios: readonly string[]
  readonly launches: readonly Launch[]
  readonly ci: boolean
  /** Versions other than the tested ones, by program. */
  readonly versions?: Readonly<Record<string, string>>
}

/** The cells of a choice, program by program; no names stand for all. */
export function cellsOf({ programs, scenarios, launches, ci, versions = {} }: Choice): Cell[] {
  const isIn = (names: readonly string[], id: string) => names.length === 0 || names.includes(id)
  const chosen = PROGRAMS.filter(({ id, inCi }) => isIn(programs, id) && (inCi || !ci))
  const atVersion = chosen.map((program) => ({
    ...program,
    version: versions[program.id] ?? program.version,
  }))
  return atVersion.flatMap((program) =>
    program.launches
      .filter((launch) => isIn(launches, launch))
      .flatMap((launch) =>
        SCENARIOS.filter(({ id, inCi = false }) => isIn(scenarios, id) && (inCi || !ci)).map((scenario) => ({
          program,
          launch,
          scenario,
        })),
      ),
  )
}

/** The first name that nothing has. */
export function unknownName({ programs, scenarios }: Choice): string | undefined {
  const known = [...PROGRAMS, ...SCENARIOS].map(({ id }) => id)
  return [...programs, ...scenarios].find((name) => !known.includes(name))
}
