import * as z from 'zod'
import { Actor } from '../model/access.ts'
import { ErrorCode, NativeSessionId } from '../model/index.ts'
import {
  Applied,
  BoundAnswer,
  HandOverCommand,
  PromptCommand,
  RenameCommand,
  SetModelCommand,
  SetPolicyCommand,
  SteerCommand,
} from '../model/request/command.ts'
import { NewSession } from '../model/session/new-session.ts'
import { ANSWER_FORMS } from '../sessions/claim.ts'

const IdempotencyKey = z.strictObject({ scope: z.string(), key: z.string(), fingerprint: z.string() })
const Claim = IdempotencyKey.extend({ answer: z.enum(ANSWER_FORMS) })
const turn = z.int().positive()

/** A command to a session, as one node sends it to the node that owns the session. */
export const SessionCommand = z.discriminatedUnion('type', [
  PromptCommand.omit({ promptId: true, rewindTo: true }),
  SteerCommand.omit({ promptId: true, principal: true, client: true }),
  z.strictObject({
    type: z.literal('change'),
    change: z.discriminatedUnion('type', [SetModelCommand, SetPolicyCommand]),
  }),
  z.strictObject({ type: z.literal('answer'), answer: BoundAnswer }),
  // Both name the turns that the sender saw, so that a delayed command stops no later one.
  z.strictObject({ type: z.literal('interrupt'), turn }),
  z.strictObject({ type: z.literal('interrupt_all'), through: z.int().nonnegative() }),
  z.strictObject({ type: z.literal('adopt'), nativeSessionId: NativeSessionId }),
  z.strictObject({
    type: z.literal('deliver'),
    reads: z.array(z.strictObject({ turn, seq: z.int().positive(), ended: z.boolean() })),
  }),
  HandOverCommand,
  RenameCommand,
  z.strictObject({ type: z.literal('describe') }),
  z.strictObject({ type: z.literal('end') }),
  z.strictObject({ type: z.literal('finish') }),
  z.strictObject({ type: z.literal('delete') }),
  z.strictObject({ type: z.literal('remember') }),
])
export type SessionCommand = z.infer<typeof SessionCommand>

/** The results of the commands that have one. */
export const CommandResults = {
  prompt: turn,
  change: Applied,
  interrupt_all: z.boolean(),
  describe: z.strictObject({ nativeSessionId: z.string().optional(), idle: z.boolean() }),
  create: z.strictObject({ id: z.string(), created: z.boolean() }),
}

/** The text of a command from one node to another. */
export const NodeCommandBody = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('session'),
    session: z.string(),
    command: SessionCommand,
    claims: z.array(Claim),
    actor: Actor.optional(),
  }),
  z.strictObject({
    kind: z.literal('create'),
    once: IdempotencyKey,
    request: NewSession,
    prompt: PromptCommand.shape.text.optional(),
    actor: Actor.optional(),
    forkOf: z.string().optional(),
  }),
])
export type NodeCommandBody = z.infer<typeof NodeCommandBody>

/** The outcome of a command. `retry`: no effect, because the node no longer owns the session or is stopping. */
export const NodeOutcome = z.union([
  z.strictObject({ result: z.unknown() }),
  z.strictObject({ retry: z.literal(true) }),
  z.strictObject({
    error: z.strictObject({
      code: ErrorCode,
      message: z.string(),
      details: z.record(z.string(), z.unknown()).optional(),
    }),
  }),
])
export type NodeOutcome = z.infer<typeof NodeOutcome>
