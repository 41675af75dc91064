import { aligned, type FencedPlan } from '../fenced.ts'

export type LaunchKind = 'live' | 'oneshot'

/** The command of the isolated process. */
export interface Plan extends FencedPlan {
  readonly seed: number
  /** Interrupts for each cell. */
  readonly count: number
  readonly atOnce: number
  readonly cells: readonly { readonly program: string; readonly launch: LaunchKind }[]
}

/** One interrupt and the prompt after it. */
export interface Trial {
  readonly atMs: number
  readonly script: string
  /** Whether the process was starting, ready for its first prompt, or had worked before. */
  readonly process: 'starting' | 'ready' | 'used'
  /** How the interrupted turn ended; absent when it did not end in time. */
  readonly outcome?: string
  readonly endedAfterMs?: number
  /** How the next turn ended; absent when it did not end in time. */
  readonly next?: string
  /** Why the next turn did not complete. */
  readonly nextError?: string
  /** The model had received the interrupted prompt. */
  readonly reachedModel: boolean
  /** Prompts that are missing from the context of the next one. */
  readonly missing: readonly string[]
  /** `context_lost` was raised. */
  readonly reported: boolean
  /** What failed. */
  readonly problems: readonly string[]
}

export interface CellReport {
  readonly program: string
  readonly launch: LaunchKind
  readonly trials: readonly Trial[]
}

const isHang = ({ outcome, next }: Trial) => outcome === undefined || next === undefined
const isSilent = ({ missing, reported, next }: Trial) => next !== undefined && missing.length > 0 && !reported

export function isClean({ trials }: CellReport): boolean {
  return trials.every(({ problems }) => problems.length === 0)
}

/** Every way in which a trial broke a promise. */
export function problemsOf(trial: Omit<Trial, 'problems'>): string[] {
  const { outcome, next, missing, reported } = trial
  if (outcome === undefined) return ['the interrupted turn did not end']
  if (next === undefined) return ['the next turn did not end']
  return [
    ...(outcome === 'interrupted' ? [] : [`the interrupted turn ended ${outcome}`]),
    ...(next === 'completed' ? [] : [`the next turn ended ${next}`]),
    ...(missing.length > 0 && !reported ? [`lost without a notice: ${missing.join(', ')}`] : []),
  ]
}

const COLUMNS = [
  'agent',
  'launch',
  'interrupts',
  'ended',
  'next worked',
  'remembered',
  'context_lost',
  'silent loss',
  'hangs',
  'end ms',
]

/** One row for each cell. */
export function tableOf(reports: readonly CellReport[]): string {
  const rows = reports.map(({ program, launch, trials }) => {
    const count = (holds: (trial: Trial) => boolean) => String(trials.filter(holds).length)
    const times = trials.flatMap(({ endedAfterMs }) => endedAfterMs ?? []).toSorted((a, b) => a - b)
    return [
      program,
      launch,
      String(trials.length),
      count(({ outcome }) => outcome !== undefined),
      count(({ next }) => next === 'completed'),
      count(({ missing, next }) => next !== undefined && missing.length === 0),
      count(({ reported }) => reported),
      count(isSilent),
      count(isHang),
      `${times[Math.floor(times.length / 2)] ?? '-'} / ${times.at(-1) ?? '-'}`,
    ]
  })
  return aligned([COLUMNS, ...rows])
}
