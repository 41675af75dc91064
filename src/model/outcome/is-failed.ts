import type { SessionRecord } from '../session/record.types.ts'
import type { Outcome } from './outcome.types.ts'

/** A turn that someone stopped did not fail. */
const FAILED: Record<Outcome, boolean> = {
  completed: false,
  denied: true,
  refused: true,
  max_steps: true,
  max_budget: true,
  timeout: true,
  interrupted: false,
  failed: true,
  crashed: true,
  lost: true,
}

/** The outcomes of turns that ended in another way than they should have. */
export const FAILED_OUTCOMES: readonly string[] = Object.entries(FAILED).flatMap(([outcome, isFailed]) =>
  isFailed ? [outcome] : [],
)

/** Whether the last turn of a session failed, and the session has not begun another one since. */
export function isFailed({ lastOutcome, status }: Pick<SessionRecord, 'lastOutcome' | 'status'>): boolean {
  return status !== 'busy' && lastOutcome !== undefined && FAILED[lastOutcome]
}
