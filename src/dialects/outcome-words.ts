import type { SessionEnded } from '../model/events/session.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import type { Outcome } from '../model/index.ts'

/** What a face says of an outcome when nobody gave a reason. */
const WORDS: Record<Outcome, string> = {
  completed: 'the turn completed',
  denied: 'something it needed was refused',
  refused: 'the model declined the task',
  max_steps: 'the turn took more steps than it was allowed to',
  max_budget: 'the turn cost more than it was allowed to',
  timeout: 'the turn took longer than it was allowed to',
  interrupted: 'the turn was interrupted',
  failed: 'the agent failed',
  crashed: 'the agent ended without a result',
  lost: 'the process that owned the turn went away',
}

/** Why a turn ended as it did, in words. */
export function whyEnded({ outcome, error }: Pick<TurnCompleted, 'outcome' | 'error'>): string {
  return error?.message ?? WORDS[outcome]
}

/** How the end of a session reads among the outcomes. */
export const SESSION_OUTCOMES: Record<SessionEnded['reason'], Outcome> = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'interrupted',
  timeout: 'timeout',
  lost: 'lost',
}

/** The outcome of what the end of the session cut off, or never let begin: a session that went well left it behind. */
export function cutOffBy({ reason }: SessionEnded): Exclude<Outcome, 'completed'> {
  const outcome = SESSION_OUTCOMES[reason]
  return outcome === 'completed' ? 'lost' : outcome
}
