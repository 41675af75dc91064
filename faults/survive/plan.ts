import { aligned, type FencedPlan } from '../fenced.ts'

/** What the agent does when its server goes away. */
export const MOMENTS = ['text', 'tool', 'permission'] as const
export type Moment = (typeof MOMENTS)[number]

/**
 * How the server goes away: `kill` is SIGKILL, `restart` is `mainstem restart`, and `reboot` kills the agent and all other
 * processes too, with `onLost: 'continue'`.
 */
export const ENDINGS = ['kill', 'restart', 'reboot'] as const
export type Ending = (typeof ENDINGS)[number]

export interface Plan extends FencedPlan {
  readonly programs: readonly string[]
  readonly moments: readonly Moment[]
  readonly endings: readonly Ending[]
  readonly atOnce: number
}

/** One program, whose server went away at one moment in one way. */
export interface CellReport {
  readonly program: string
  readonly moment: Moment
  readonly ending: Ending
  /** What did not hold; empty if all did. */
  readonly problems: readonly string[]
}

/** A row for each program and ending, a column for each moment. */
export function tableOf(reports: readonly CellReport[]): string {
  const rows = Map.groupBy(reports, ({ program, ending }) => `${program} ${ending}`)
  const state = (cells: readonly CellReport[], moment: Moment) => {
    const cell = cells.find((one) => one.moment === moment)
    return cell === undefined ? '-' : cell.problems.length === 0 ? 'yes' : 'no'
  }
  return aligned([
    ['agent', 'server', ...MOMENTS],
    ...[...rows].map(([row, cells]) => [...row.split(' '), ...MOMENTS.map((moment) => state(cells, moment))]),
  ])
}
