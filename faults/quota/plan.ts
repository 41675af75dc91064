import { aligned, type FencedPlan } from '../fenced.ts'

/**
 * What becomes of a session after its limit is used up: it waits for the reset, the limit is used up again after that, a
 * person cancels, or another agent continues.
 */
export const CASES = ['wait', 'cap', 'cancel', 'hand-over'] as const
export type Case = (typeof CASES)[number]

export interface Plan extends FencedPlan {
  /** From the start of the model to the reset. */
  readonly resetMs: number
}

export interface CaseReport {
  readonly name: Case
  /** The outcomes of its turns. */
  readonly outcomes: readonly string[]
  /** From the reset to the start of the second turn. */
  readonly afterResetMs: number | undefined
  /** What did not hold; empty if all did. */
  readonly problems: readonly string[]
}

export function tableOf(reports: readonly CaseReport[]): string {
  return aligned([
    ['case', 'turns', 'second turn', 'held'],
    ...reports.map(({ name, outcomes, afterResetMs, problems }) => [
      name,
      outcomes.join(', '),
      afterResetMs === undefined ? '-' : `${(afterResetMs / 1000).toFixed(1)} s after the reset`,
      problems.join('; ') || 'yes',
    ]),
  ])
}
