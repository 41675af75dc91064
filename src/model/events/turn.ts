import { z } from 'zod'
import { ErrorInfo } from '../errors.ts'
import { Outcome } from '../outcome.ts'
import { Usage } from '../usage.ts'

const turn = z.int().positive()

export const TurnQueued = z.strictObject({
  type: z.literal('turn.queued'),
  turn,
  prompt: z.string(),
  position: z.int().positive(),
})
export type TurnQueued = z.infer<typeof TurnQueued>

/** `origin: agent`: a turn the agent starts by itself, after background work; it has no prompt. */
export const TurnStarted = z.strictObject({
  type: z.literal('turn.started'),
  turn,
  origin: z.enum(['prompt', 'agent']),
  prompt: z.string().optional(),
  promptId: z.string().optional(),
})
export type TurnStarted = z.infer<typeof TurnStarted>

export const TurnSteered = z.strictObject({
  type: z.literal('turn.steered'),
  turn,
  prompt: z.string(),
  effect: z.enum(['folded', 'restarted']),
})
export type TurnSteered = z.infer<typeof TurnSteered>

export const TurnExit = z.strictObject({
  code: z.int().optional(),
  signal: z.string().optional(),
})

/** The one terminal event of a turn. */
export const TurnCompleted = z.strictObject({
  type: z.literal('turn.completed'),
  turn,
  outcome: Outcome,
  error: ErrorInfo.optional(),
  result: z.string().optional().describe('the final answer'),
  structured: z.unknown().optional(),
  usage: Usage.optional(),
  durationMs: z.int().nonnegative(),
  exit: TurnExit.optional(),
  nativeReason: z.string().optional(),
  denials: z.int().nonnegative(),
  data: z.unknown().optional().describe('what the agent adds of its own, such as the diff of the whole turn'),
})
export type TurnCompleted = z.infer<typeof TurnCompleted>
