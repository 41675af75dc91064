import type { LaunchKind } from '../../src/model/index.ts'
import { aligned, type FencedPlan } from '../fenced.ts'

/** What the agent does when its server goes away. `start` is a random moment of the first half second. */
export const MOMENTS = ['start', 'text', 'tool', 'permission'] as const
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
  readonly launch: LaunchKind
  /** How often each cell is played. */
  readonly rounds: number
  /** Of random moments. */
  readonly seed: number
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
    const played = cells.filter((one) => one.moment === moment)
    const held = played.filter(({ problems }) => problems.length === 0)
    if (played.length > 1) return `${held.length} of ${played.length}`
    return played.length === 0 ? '-' : held.length === 1 ? 'yes' : 'no'
  }
  return aligned([
    ['agent', 'server', ...MOMENTS],
    ...[...rows].map(([row, cells]) => [...row.split(' '), ...MOMENTS.map((moment) => state(cells, moment))]),
  ])
}
