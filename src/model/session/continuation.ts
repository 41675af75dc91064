import * as z from 'zod'
import type * as types from './continuation.types.ts'

/** Says when and why a queued prompt runs that Mainstem itself wrote, to continue work that was cut off. */
export const Continuation = z.strictObject({
  reason: z
    .enum(['lost', 'limit'])
    .describe('Why the turn before ended: its process went away, or a usage limit was used up.'),
  after: z.int().positive().describe('The turn to continue.'),
  at: z.int().nonnegative().describe('When the prompt runs, in milliseconds since 1970.'),
  attempt: z
    .int()
    .positive()
    .describe("The number of continuations since a person's last prompt, this included."),
  of: z.int().positive().describe('The largest number of continuations.'),
  agent: z.string().optional().describe('The agent that continues; the same by default.'),
  until: z
    .int()
    .nonnegative()
    .describe('The latest time to run, in milliseconds since 1970. After it the prompt is dropped.'),
})
export type Continuation = types.Continuation

/** The continuations since a person's last prompt. */
export const ContinuationCount = Continuation.pick({ attempt: true, until: true })
export type ContinuationCount = types.ContinuationCount

/** Another agent continues after a limit. */
export const ContinueAs = z.strictObject({
  continueAs: z.string().min(1).describe('The id of the agent that continues.'),
})
export type ContinueAs = types.ContinueAs

/**
 * What happens after a turn that a usage limit ended: nothing, the session continues after the limit has reset, or another
 * agent continues it.
 */
export const OnLimit = z.union([z.enum(['fail', 'wait']), ContinueAs])
export type OnLimit = types.OnLimit

/** The caps of work that continues without a person. A prompt of a person starts them anew. */
export const ContinuationCaps = z.strictObject({
  max: z.int().min(1).max(100).optional().describe('The largest number of continuations; 3 by default.'),
  withinMs: z
    .int()
    .positive()
    .max(2_592_000_000)
    .optional()
    .describe('How long after the first cut-off turn the last continuation may begin; 12 hours by default.'),
})
export type ContinuationCaps = types.ContinuationCaps
