import * as z from 'zod'
import { NativeSessionId, SessionName } from '../ids.ts'
import { LaunchKind } from '../session/capability.ts'
import { Image, ModelName, ModeName } from '../session/options.ts'
import { Policy } from '../session/policy.ts'
import type * as types from './command.types.ts'
import { Answers, Author, ClientKind, Decider, Decision, Scope } from './request.ts'

/** The text of a prompt. */
const PromptText = z.string().min(1, 'must not be empty')

/** Starts the conversation with the agent. */
export const OpenCommand = z.strictObject({
  type: z.literal('open'),
  resume: NativeSessionId.optional().describe("The agent's own session to continue."),
})
/** Starts a turn, or queues it. */
export const PromptCommand = z.strictObject({
  type: z.literal('prompt'),
  text: PromptText.describe('The text of the prompt.'),
  promptId: z.string().optional().describe("The client's id of the prompt."),
  images: z.array(Image).max(20).optional().describe('Images that belong to the prompt.'),
  rewindTo: z
    .string()
    .optional()
    .describe('The id of the prompt before which the files are restored, if this one is `/rewind`.'),
})
/** Sends a prompt into the open turn. */
export const SteerCommand = z.strictObject({
  type: z.literal('steer'),
  text: PromptText.describe('The text of the prompt.'),
  promptId: z.string().optional().describe("The client's id of the prompt."),
  ...Author.partial().shape,
})
/** Stops the open turn. */
export const InterruptCommand = z.strictObject({ type: z.literal('interrupt') })
/** The decision on an open request, as a caller of any interface gives it. */
export const RequestAnswer = z.strictObject({
  inputDigest: z
    .string()
    .describe('The `inputDigest` of the request that the caller saw. Agents may reuse a request id.'),
  decision: Decision.describe('`answered` for questions, otherwise `allow` or `deny`.'),
  scope: Scope.optional().describe('How long an `allow` applies; `once` by default.'),
  message: z.string().optional().describe('A message to the agent, such as the reason of a denial.'),
  interrupt: z.boolean().optional().describe('With `deny`: also stops the turn.'),
  answers: Answers.optional().describe('The answers to the questions, with `answered`.'),
  input: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('With `allow`: replaces the input of the tool call, where the agent supports it.'),
})
export type RequestAnswer = types.RequestAnswer
/** Answers an open request. */
export const AnswerCommand = RequestAnswer.omit({ inputDigest: true }).extend({
  type: z.literal('answer'),
  requestId: z.string().describe('The request to answer.'),
  by: Decider.optional().describe('Who decided; `person` by default.'),
  principal: z.string().optional().describe('The principal whose client sent the answer.'),
  client: ClientKind.optional().describe('The kind of client that sent the answer.'),
})
export type AnswerCommand = types.AnswerCommand
/** An answer with the digest of the request that the caller saw, because agents may reuse a request id. */
export const BoundAnswer = AnswerCommand.extend({ inputDigest: RequestAnswer.shape.inputDigest })
export type BoundAnswer = types.BoundAnswer
/** Changes the model. */
export const SetModelCommand = z.strictObject({
  type: z.literal('set_model'),
  model: ModelName.nullable().describe('The name of the model; `null` for the default of the agent.'),
})
/** Changes the policy, or the agent's own mode. */
export const SetPolicyCommand = z.strictObject({
  type: z.literal('set_policy'),
  policy: Policy.optional().describe('The new policy.'),
  mode: ModeName.optional().describe("The agent's own name of a mode."),
})
/** Another agent continues the session. */
export const HandOverCommand = z.strictObject({
  type: z.literal('hand_over'),
  agent: z.string().min(1).describe('The id of the agent that continues.'),
  launch: LaunchKind.optional().describe('How the agent is run; as for a new session by default.'),
  model: ModelName.optional().describe('The model; the default of the agent by default.'),
})
export type HandOverCommand = types.HandOverCommand
/** Gives the session a name. */
export const RenameCommand = z.strictObject({
  type: z.literal('rename'),
  name: SessionName.nullable().describe('The name; `null` removes it.'),
})
export type RenameCommand = types.RenameCommand
/** Ends the session. */
export const CloseCommand = z.strictObject({ type: z.literal('close') })

/** When a change of settings takes effect: `next_turn` if a turn is open and ends with the old settings. */
export const Applied = z.enum(['now', 'next_turn'])
export type Applied = types.Applied

/** A request to a session, which may refuse it. Accepted commands are durable before they reach the agent. */
export const Command = z.discriminatedUnion('type', [
  OpenCommand,
  PromptCommand,
  SteerCommand,
  InterruptCommand,
  AnswerCommand,
  SetModelCommand,
  SetPolicyCommand,
  CloseCommand,
])
export type Command = types.Command
