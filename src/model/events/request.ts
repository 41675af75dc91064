import { z } from 'zod'
import { Answers, Decision, Question, RequestKind, RequestOption, Scope } from '../request.ts'
import { Location, ToolKind } from '../tool.ts'
import type * as types from './request.types.ts'

const requestId = z
  .string()
  .describe('Identifies the request. Agents may reuse an id once its request is closed.')

const WithdrawalReason = z.enum(['interrupted', 'agent', 'answered_elsewhere', 'turn_ended', 'process_ended'])

/**
 * The agent asks for a decision. The turn waits for the answer unless `blocking` is false. The event may precede the
 * `tool.started` of its tool call.
 */
export const RequestOpened = z.strictObject({
  type: z.literal('request.opened'),
  requestId,
  kind: RequestKind.describe('The kind of decision.'),
  blocking: z.boolean().describe('False if the agent continues to work while the request is open.'),
  toolId: z.string().optional().describe('The tool call that needs the decision.'),
  tool: z.string().optional().describe("The agent's own name of the tool."),
  toolKind: ToolKind.optional().describe('The kind of the tool; policies decide by it.'),
  locations: z.array(Location).optional().describe('The files that the tool call concerns.'),
  title: z.string().optional().describe('A one-line summary for people.'),
  input: z.unknown().optional().describe('The input of the tool call.'),
  inputDigest: z
    .string()
    .describe('A digest of the request. Send it with the answer to bind the answer to this input.'),
  options: z.array(RequestOption).describe('The decisions that the agent offers.'),
  questions: z.array(Question).optional().describe('The questions of a request of kind `question`.'),
  answeredBy: z
    .enum(['person', 'policy', 'hook', 'nobody'])
    .optional()
    .describe(
      'Who decides; a person if absent. `nobody`: a person would have to decide but none is attending, so the request is denied.',
    ),
  parent: z.string().optional().describe('The id of the sub-agent that asks; absent on the main thread.'),
})
export type RequestOpened = types.RequestOpened

/** A request was answered. Committed to the log before the answer is written to the agent. */
export const RequestResolved = z.strictObject({
  type: z.literal('request.resolved'),
  requestId,
  decision: Decision.describe('The decision.'),
  scope: Scope.optional().describe('How long an `allow` applies.'),
  answers: Answers.optional().describe('The answers to the questions.'),
  message: z.string().optional().describe('A message to the agent.'),
  input: z.unknown().optional().describe('The input as the answer rewrote it.'),
  by: z.enum(['person', 'policy', 'hook']).describe('Who decided.'),
})
export type RequestResolved = types.RequestResolved

/** A request was closed without an answer from this session. */
export const RequestWithdrawn = z.strictObject({
  type: z.literal('request.withdrawn'),
  requestId,
  reason: WithdrawalReason.describe(
    '`answered_elsewhere`: another client of the agent answered the request; `agent`: the agent withdrew it.',
  ),
  decision: Decision.optional().describe('The decision, if the agent reports one.'),
})
export type RequestWithdrawn = types.RequestWithdrawn
