import { z } from 'zod'
import { Answers, Decision, Question, RequestKind, RequestOption, Scope } from '../request.ts'
import { Location, ToolKind } from '../tool.ts'

const requestId = z.string()

const WithdrawalReason = z.enum(['interrupted', 'agent', 'answered_elsewhere', 'turn_ended', 'process_ended'])

/** Blocks its turn until answered, unless `blocking` is false. May precede the `tool.started` it is about. */
export const RequestOpened = z.strictObject({
  type: z.literal('request.opened'),
  requestId,
  kind: RequestKind,
  blocking: z.boolean(),
  toolId: z.string().optional(),
  tool: z.string().optional(),
  toolKind: ToolKind.optional().describe('what a policy decides by'),
  locations: z.array(Location).optional().describe('the files it is about'),
  title: z.string().optional(),
  input: z.unknown().optional(),
  inputDigest: z.string().describe('binds an answer to what was asked'),
  options: z.array(RequestOption),
  questions: z.array(Question).optional(),
  asks: z
    .enum(['person', 'policy', 'hook', 'nobody'])
    .optional()
    .describe(
      'who decides; a person if absent. `nobody`: a person would have to, and none is there, so it is denied',
    ),
  parent: z.string().optional(),
})
export type RequestOpened = z.infer<typeof RequestOpened>

/** Committed before the answer is written to the agent. */
export const RequestResolved = z.strictObject({
  type: z.literal('request.resolved'),
  requestId,
  decision: Decision,
  scope: Scope.optional(),
  answers: Answers.optional(),
  message: z.string().optional(),
  input: z.unknown().optional().describe('the input as rewritten by the answer'),
  by: z.enum(['person', 'policy', 'hook']),
})
export type RequestResolved = z.infer<typeof RequestResolved>

/** The request is no longer open, and not because of an answer that was given here. */
export const RequestWithdrawn = z.strictObject({
  type: z.literal('request.withdrawn'),
  requestId,
  reason: WithdrawalReason.describe(
    '`answered_elsewhere`: another client of the agent answered it; `agent`: the agent took it back',
  ),
  decision: Decision.optional().describe('how it was decided, if the agent reports it'),
})
export type RequestWithdrawn = z.infer<typeof RequestWithdrawn>
