import * as z from 'zod'
import type { TurnExit } from '../events/turn.types.ts'
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

/** Whether another process told the agent to stop, by the exit of a process that ended without a result. */
export function wasToldToStop({ signal, code, stopped }: Partial<TurnExit> = {}): boolean {
  return stopped === true || signal === 'SIGTERM' || signal === 'SIGINT' || code === 143 || code === 130
}
