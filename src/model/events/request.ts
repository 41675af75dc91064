import * as z from 'zod'
import {
  Answers,
  ClientKind,
  Decider,
  Decision,
  Question,
  RequestKind,
  RequestOption,
  Scope,
} from '../request/request.ts'
import { Location, ToolKind } from '../request/tool.ts'
import type * as types from './request.types.ts'

const requestId = z
  .string()
  .describe('Identifies the request. Agents may reuse an id once its request is closed.')

const WithdrawalReason = z.enum([
  'interrupted',
  'agent',
  'replaced',
  'answered_elsewhere',
  'turn_ended',
  'process_ended',
])

/**
 * The agent asks for a decision. The turn waits for the answer unless `blocking` is false. `tool` and `input` are those
 * of the tool call that runs if the request is allowed.
 */
export const RequestOpened = z.strictObject({
  type: z.literal('request.opened'),
  requestId,
  kind: RequestKind.describe('The kind of decision.'),
  blocking: z.boolean().describe('False if the agent continues to work while the request is open.'),
  toolId: z.string().optional().describe('The tool call that needs the decision.'),
  tool: z.string().optional().describe("The agent's own name of the tool."),
  toolKind: ToolKind.optional().describe('The kind of the tool; policies decide by it.'),
  canonicalName: z
    .string()
    .optional()
    .describe(
      'The name of the tool that is the same for every agent: `execute`, `edit`, `mcp:docs/search`; its own name if it has no other.',
    ),
  locations: z.array(Location).optional().describe('The files that the tool call concerns.'),
  title: z.string().optional().describe('A one-line summary for people.'),
  input: z.unknown().optional().describe('The input of the tool call.'),
  permission: z
    .string()
    .optional()
    .describe(
      'What the agent asks for, if that is not the tool call alone: such as access to a directory or to the network. A policy that allows the tool does not allow this.',
    ),
  data: z
    .unknown()
    .optional()
    .describe('How the agent describes the request, if that is not the input of the tool call.'),
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
  by: Decider.describe('Who decided.'),
  principal: z
    .string()
    .optional()
    .describe('The principal whose client sent the answer; `local` for the user of this machine.'),
  client: ClientKind.optional().describe('The kind of client that sent the answer, as it named itself.'),
})
export type RequestResolved = types.RequestResolved

/** A request was closed without an answer from this session. */
export const RequestWithdrawn = z.strictObject({
  type: z.literal('request.withdrawn'),
  requestId,
  reason: WithdrawalReason.describe(
    '`agent`: the agent withdrew it; `replaced`: the agent opened another request under its id; `answered_elsewhere`: ' +
      'another client of the agent answered it.',
  ),
  decision: Decision.optional().describe('The decision, if the agent reports one.'),
})
export type RequestWithdrawn = types.RequestWithdrawn
