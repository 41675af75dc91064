import { z } from 'zod'
import { NativeSessionId } from './ids.ts'
import { Image, ModelName, ModeName } from './options.ts'
import { Policy } from './policy.ts'
import { Answers, Decision, Scope } from './request.ts'

export const OpenCommand = z.strictObject({ type: z.literal('open'), resume: NativeSessionId.optional() })
export const PromptCommand = z.strictObject({
  type: z.literal('prompt'),
  text: z.string(),
  promptId: z.string().optional(),
  images: z.array(Image).optional(),
})
export const SteerCommand = z.strictObject({
  type: z.literal('steer'),
  text: z.string(),
  promptId: z.string().optional(),
})
export const InterruptCommand = z.strictObject({ type: z.literal('interrupt') })
export const AnswerCommand = z.strictObject({
  type: z.literal('answer'),
  requestId: z.string(),
  decision: Decision,
  scope: Scope.optional(),
  message: z.string().optional(),
  interrupt: z.boolean().optional().describe('deny and stop the turn'),
  answers: Answers.optional(),
  input: z.unknown().optional(),
  by: z.enum(['person', 'policy', 'hook']).optional().describe('who decided; a person unless it is said'),
})
export type AnswerCommand = z.infer<typeof AnswerCommand>
/** An answer, bound by digest to the request that the answering party saw. Agents may reuse a request id. */
export interface BoundAnswer extends AnswerCommand {
  /** The `inputDigest` of that request. */
  inputDigest: string
}
export const SetModelCommand = z.strictObject({
  type: z.literal('set_model'),
  model: ModelName.nullable().describe('`null` for the default of the agent'),
})
export const SetPolicyCommand = z.strictObject({
  type: z.literal('set_policy'),
  policy: Policy.optional(),
  mode: ModeName.optional().describe("the agent's own name of a mode"),
})
export const CloseCommand = z.strictObject({ type: z.literal('close') })

/** From when on a change of settings holds: `next_turn` where a turn is open that ends under the old ones. */
export const Applied = z.enum(['now', 'next_turn'])
export type Applied = z.infer<typeof Applied>

/** A wish that may be refused. Durable first, then written to the agent. */
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
export type Command = z.infer<typeof Command>
