import { z } from 'zod'
import type { ErrorInfo } from './errors.ts'

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
export type Outcome = z.infer<typeof Outcome>

/**
 * Why a turn or a process ended, as far as *we* had a part in it; `exit` when we had none. `finished` is a process that
 * was ended because it did not exit after its result: the result decides, and not how the process ended.
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

/** What the agent itself says of how a turn went; `none` when it died without a word. */
export type Evidence = 'success' | 'aborted' | 'refusal' | 'max_steps' | 'max_budget' | 'error' | 'none'

export interface Verdict {
  evidence: Evidence
  error?: ErrorInfo
  /** Every refused tool call, and how many of them a person refused. */
  denials: number
  personDenials: number
  /**
   * A cancel of ours stopped work of this turn: a call that was cancelled or left open, a request that was withdrawn,
   * text that was cut, or a turn in which the agent wrote nothing at all.
   */
  cut?: boolean
}

/**
 * The one place where an outcome is decided; the first row that matches wins. Some agents report success for a turn that
 * we cancelled: it is `interrupted` where the cancel stopped work, and `completed` where the turn had ended before.
 * `exitCode` is undefined while the process lives on.
 */
export function decide(verdict: Verdict, cause: Cause, exitCode?: number): Outcome {
  if (cause === 'lost') return 'lost'
  const { evidence } = verdict
  // A success that was there before our cancel took effect stays one: the interrupt came too late.
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
  /** The fixed exit code; undefined: the child's own if it is not 0, else 1. */
  exitCode: number | undefined
  ues: 'success' | 'error' | 'interrupted' | 'max_turns' | 'max_budget'
  daemon: 'result' | 'error' | 'interrupted'
  board: 'done' | 'failed' | 'cancelled'
  unified: 'completed' | 'failed' | 'cancelled' | 'timeout'
}

/** How each outcome reads on every face. */
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
