import type { SessionEnded } from '../../model/events/session.ts'
import type { TurnCompleted } from '../../model/events/turn.ts'
import type { Outcome } from '../../model/index.ts'

/** The message for an outcome without a reason. */
const WORDS: Record<Outcome, string> = {
  completed: 'the turn completed',
  denied: 'a required permission was denied',
  refused: 'the model declined the task',
  max_steps: 'the turn exceeded its step limit',
  max_budget: 'the turn exceeded its budget',
  timeout: 'the turn exceeded its time limit',
  interrupted: 'the turn was interrupted',
  failed: 'the agent failed',
  crashed: 'the agent ended without a result',
  lost: 'the process that owned the turn exited',
}

/** Returns the reason why a turn ended. */
export function whyEnded({ outcome, error }: Pick<TurnCompleted, 'outcome' | 'error'>): string {
  return error?.message ?? WORDS[outcome]
}

/** Maps the end of a session to an outcome. */
export const SESSION_OUTCOMES: Record<SessionEnded['reason'], Outcome> = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'interrupted',
  timeout: 'timeout',
  lost: 'lost',
}

/**
 * The outcome of a turn that the end of the session cut off or prevented; a session that completed abandoned the turn.
 */
export function cutOffBy({ reason }: SessionEnded): Exclude<Outcome, 'completed'> {
  const outcome = SESSION_OUTCOMES[reason]
  return outcome === 'completed' ? 'lost' : outcome
}
