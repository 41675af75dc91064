import * as z from 'zod'
import { ErrorInfo } from '../outcome/errors.ts'
import { Outcome } from '../outcome/outcome.ts'
import { Author } from '../request/request.ts'
import { Continuation } from '../session/continuation.ts'
import { Usage } from '../usage.ts'
import type * as types from './turn.types.ts'

const turn = z.int().positive().describe('The number of the turn in its session, from 1.')

/** Absent in logs of older versions, and where the sender is unknown. */
const author = Author.partial().shape

/** A prompt waits for the open turn to end. */
export const TurnQueued = z.strictObject({
  type: z.literal('turn.queued'),
  turn,
  prompt: z.string().describe('The text of the prompt.'),
  position: z.int().positive().describe('The position in the queue, from 1.'),
  continuation: Continuation.optional().describe('Set if Mainstem wrote the prompt, to continue work later.'),
  ...author,
})
export type TurnQueued = types.TurnQueued

/** A turn began. */
export const TurnStarted = z.strictObject({
  type: z.literal('turn.started'),
  turn,
  origin: z
    .enum(['prompt', 'agent'])
    .describe(
      '`agent`: the agent started the turn itself, after background work; such a turn has no prompt.',
    ),
  prompt: z.string().optional().describe('The text of the prompt.'),
  promptId: z.string().optional().describe("The client's id of the prompt."),
  ...author,
})
export type TurnStarted = types.TurnStarted

/** A prompt joined the open turn. */
export const TurnSteered = z.strictObject({
  type: z.literal('turn.steered'),
  turn,
  prompt: z.string().describe('The text of the prompt.'),
  effect: z
    .enum(['folded', 'restarted'])
    .describe('`folded`: the agent read the prompt while it worked; `restarted`: it began the turn again.'),
  ...author,
})
export type TurnSteered = types.TurnSteered

/** How the process of a turn exited. */
export const TurnExit = z.strictObject({
  code: z.int().optional().describe('The exit code.'),
  signal: z.string().optional().describe('The signal that ended the process.'),
  stopped: z
    .literal(true)
    .optional()
    .describe('The agent exits with this code when another process tells it to stop by SIGTERM or SIGINT.'),
})

/** The end of a turn. Every turn has exactly one, also if the agent or the server crashed. */
export const TurnCompleted = z.strictObject({
  type: z.literal('turn.completed'),
  turn,
  outcome: Outcome.describe('How the turn ended.'),
  error: ErrorInfo.optional().describe('The error, for outcomes that have one.'),
  result: z.string().optional().describe('The final answer.'),
  structured: z
    .unknown()
    .optional()
    .describe('The final answer as JSON, if the session has an `outputSchema`.'),
  usage: Usage.optional().describe('Tokens and cost of the turn; absent if the agent reports none.'),
  durationMs: z.int().nonnegative().describe('Milliseconds from the start of the turn.'),
  exit: TurnExit.optional().describe('How the process exited, if it did.'),
  nativeReason: z.string().optional().describe("The agent's own reason for the end."),
  denials: z.int().nonnegative().describe('The number of tool calls that were denied.'),
  data: z
    .unknown()
    .optional()
    .describe('Details that only this agent reports, such as the diff of the whole turn.'),
})
export type TurnCompleted = types.TurnCompleted
