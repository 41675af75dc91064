import type { TurnCompleted } from '../events/turn.ts'
import { ERRORS } from './error-table.ts'
import type { Outcome } from './outcome.types.ts'

interface Faces {
  /** The fixed exit code. If undefined, the exit code of the agent applies if it is not 0, else 1. */
  exitCode: number | undefined
  ues: 'success' | 'error' | 'interrupted' | 'max_turns' | 'max_budget'
  daemon: 'result' | 'error' | 'interrupted'
  board: 'done' | 'failed' | 'cancelled'
  unified: 'completed' | 'failed' | 'cancelled' | 'timeout'
}

/** The words of every dialect for each outcome. */
export const FACES: Record<Outcome, Faces> = {
  completed: { exitCode: 0, ues: 'success', daemon: 'result', board: 'done', unified: 'completed' },
  denied: { exitCode: 5, ues: 'error', daemon: 'result', board: 'failed', unified: 'failed' },
  refused: { exitCode: 1, ues: 'error', daemon: 'error', board: 'failed', unified: 'failed' },
  max_steps: { exitCode: 3, ues: 'max_turns', daemon: 'error', board: 'failed', unified: 'failed' },
  max_budget: { exitCode: 3, ues: 'max_budget', daemon: 'error', board: 'failed', unified: 'failed' },
  timeout: { exitCode: 3, ues: 'error', daemon: 'error', board: 'failed', unified: 'timeout' },
  interrupted: {
    exitCode: 130,
    ues: 'interrupted',
    daemon: 'interrupted',
    board: 'cancelled',
    unified: 'cancelled',
  },
  failed: { exitCode: undefined, ues: 'error', daemon: 'error', board: 'failed', unified: 'failed' },
  crashed: { exitCode: undefined, ues: 'error', daemon: 'error', board: 'failed', unified: 'failed' },
  lost: { exitCode: 1, ues: 'error', daemon: 'error', board: 'failed', unified: 'failed' },
}

/** The exit code of `execute` and of the CLI. */
export function exitCodeOf(
  outcome: Outcome,
  exit: { code?: number | undefined; signal?: string | undefined } | undefined,
): number {
  const fixed = FACES[outcome].exitCode
  if (fixed !== undefined) return fixed
  return exit?.code || 1
}

/** The exit code of a turn. A failure without an exit code of the agent has that of its error, such as a missing login. */
export function turnExitCode({ outcome, exit, error }: TurnCompleted): number {
  if (outcome !== 'failed' || !error || exit?.code) return exitCodeOf(outcome, exit)
  // The agent is known, so it is its program that was not found.
  return ERRORS[error.code === 'agent_not_found' ? 'agent_not_ready' : error.code].exit
}
