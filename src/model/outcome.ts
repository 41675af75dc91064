import { z } from 'zod'
import type { ErrorInfo } from './errors.ts'
import type * as types from './outcome.types.ts'

/** How a turn ended. Only `completed` is a success. */
export const Outcome = z.enum([
  'completed',
  'denied',
  'refused',
  'max_steps',
  'max_budget',
  'timeout',
  'interrupted',
  'failed',
  'crashed',
  'lost',
])
export type Outcome = types.Outcome

/**
 * The part that Mainstem had in the end of a turn or process; `exit` if it had none. `finished`: Mainstem ended a
 * process that did not exit after its result, so the result decides the outcome and not the exit.
 */
export type Cause =
  | 'exit'
  | 'finished'
  | 'interrupt'
  | 'timeout'
  | 'max_steps'
  | 'max_budget'
  | 'drain'
  | 'lost'

/** How the agent itself reports the end of a turn; `none` if it exited without a report. */
export type Evidence = 'success' | 'aborted' | 'refusal' | 'max_steps' | 'max_budget' | 'error' | 'none'

/** The facts about a turn that its outcome is decided from. */
export interface Verdict {
  /** The agent's own report. */
  evidence: Evidence
  /** The agent's error. */
  error?: ErrorInfo
  /** The number of denied tool calls. */
  denials: number
  /** The number of tool calls that a person denied. */
  personDenials: number
  /**
   * True if a cancel by Mainstem stopped work of this turn: a tool call was cancelled or left open, a request was
   * withdrawn, text was cut off, or the agent wrote nothing at all.
   */
  cut?: boolean
}

/**
 * Decides the outcome of a turn; the first rule that matches wins. Some agents report success for a cancelled turn: the
 * outcome is `interrupted` if the cancel stopped work, and `completed` if the turn had ended before. `exitCode` is
 * undefined while the process is running.
 */
export function decide(verdict: Verdict, cause: Cause, exitCode?: number): Outcome {
  if (cause === 'lost') return 'lost'
  const { evidence } = verdict
  // A turn that succeeded before the cancel took effect stays a success.
  const late = evidence === 'success' && cause !== 'exit' && !verdict.cut
  if (!late) {
    if (cause === 'timeout' || cause === 'max_steps' || cause === 'max_budget') return cause
    if (cause === 'interrupt' || cause === 'drain') return 'interrupted'
  }
  if (evidence === 'aborted') return 'interrupted'
  if (evidence === 'refusal') return 'refused'
  if (evidence === 'max_steps' || evidence === 'max_budget') return evidence
  if (evidence === 'error') return 'failed'
  if (evidence === 'none') return 'crashed'
  if (!late && exitCode !== undefined && exitCode !== 0) return 'failed'
  return verdict.denials > verdict.personDenials ? 'denied' : 'completed'
}

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
