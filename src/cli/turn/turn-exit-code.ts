import type { TurnCompleted } from '../../model/events/turn.ts'
import { ERRORS } from '../../model/outcome/error-table.ts'
import { exitCodeOf } from '../../model/outcome/outcome-faces.ts'

/** The exit code of a turn. A failure without an exit code of the agent has that of its error, such as a missing login. */
export function turnExitCode({ outcome, exit, error }: TurnCompleted): number {
  if (outcome !== 'failed' || !error || exit?.code) return exitCodeOf(outcome, exit)
  // The agent is known, so it is its program that was not found.
  return ERRORS[error.code === 'agent_not_found' ? 'agent_not_ready' : error.code].exit
}
