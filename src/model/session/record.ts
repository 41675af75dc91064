import * as z from 'zod'
import { LimitReported } from '../events/report.ts'
import { RequestOpened } from '../events/request.ts'
import { SessionId, SessionName } from '../ids.ts'
import { ErrorInfo } from '../outcome/errors.ts'
import { Outcome } from '../outcome/outcome.ts'
import { Author } from '../request/request.ts'
import { Usage } from '../usage.ts'
import { LaunchKind } from './capability.ts'
import { ContextUsage } from './context-usage.ts'
import { Continuation, ContinuationCount } from './continuation.ts'
import { Coverage } from './coverage.ts'
import { SessionOptions } from './options.ts'
import { Policy } from './policy.ts'
import type * as types from './record.types.ts'

/** A prompt that waits in the queue. */
export const QueuedPrompt = z.strictObject({
  turn: z.int().positive().describe('The number that the turn has.'),
  prompt: z.string().describe('The text of the prompt; of a long one only the beginning.'),
  truncated: z.literal(true).optional().describe('Set if `prompt` is only the beginning of the text.'),
  images: z.int().positive().optional().describe('The number of its images.'),
  continuation: Continuation.optional().describe('Set if Mainstem wrote the prompt, to continue work later.'),
  ...Author.partial().shape,
})

/** A range of turns that clients of `/rpc` have received. */
export const DeliveredTurns = z.strictObject({
  first: z.int().positive().describe('The first turn.'),
  last: z.int().positive().describe('The last turn.'),
  seq: z
    .int()
    .positive()
    .optional()
    .describe('The last entry that was delivered, if the last turn had not ended.'),
})

/** A usage limit that is used up. */
export const UsedUpLimit = LimitReported.pick({ resetsAt: true, message: true, account: true })
export type UsedUpLimit = types.UsedUpLimit

/** The last change of the agent. */
export const HandedOver = z.strictObject({
  through: z
    .int()
    .nonnegative()
    .describe('The last entry before `session.handed_over`, which has the recap.'),
  prompted: z.boolean().describe('A turn has begun since.'),
})
export type HandedOver = types.HandedOver

/** The state of a session: a fold over its log, stored beside the log so that it need not be read. */
export const SessionRecord = z.strictObject({
  id: SessionId.describe('The id of the session.'),
  principal: z.string().describe('The principal that owns the session.'),
  agent: z.string().describe('The id of the agent.'),
  launch: LaunchKind.describe('How the agent is run.'),
  cwd: z.string().describe("The agent's working directory."),
  project: z.string().optional().describe('The project that the client named.'),
  name: SessionName.optional().describe('The name that the client gave the session.'),
  policy: Policy.describe('The current policy.'),
  mode: z.string().optional().describe("The agent's own mode, if one was selected by name."),
  options: SessionOptions.describe('The options of the session.'),
  attended: z.boolean().describe('True if a person can answer requests.'),
  single: z
    .boolean()
    .optional()
    .describe(
      'True for a run of `/v1/execute`: the session ends with its first turn and takes no other prompt.',
    ),
  labels: z.array(z.string()).optional().describe('Only a node with all of these labels runs the session.'),
  node: z.string().optional().describe('The node that runs the session, or ran it last.'),
  status: z
    .enum(['idle', 'busy', 'ended'])
    .describe('`busy` while a turn is open; `ended` once the session accepts no more prompts.'),
  createdAt: z.int().describe('When the session was created, in milliseconds since 1970.'),
  updatedAt: z.int().describe('When the session changed last, in milliseconds since 1970.'),
  head: z.int().nonnegative().describe('The `seq` of the last entry.'),
  earliest: z
    .int()
    .positive()
    .optional()
    .describe('The `seq` of the first entry that is kept, if older entries were deleted.'),
  earliestFrame: z
    .int()
    .positive()
    .optional()
    .describe('The number of the first raw frame that is kept, if older frames were deleted.'),
  turns: z.int().nonnegative().describe('The number of the last turn.'),
  openTurn: z.int().positive().optional().describe('The number of the open turn.'),
  openTurnBy: Author.optional().describe('Who sent the prompt of the open turn.'),
  silentSince: z
    .int()
    .optional()
    .describe('When the agent wrote last, once a notice has reported its silence in the open turn.'),
  queue: z.array(QueuedPrompt).describe('The prompts that wait, in order.'),
  requests: z.array(RequestOpened).describe('The open requests, oldest first.'),
  continued: ContinuationCount.optional().describe(
    "Set while the work continues without a person: the continuations since the person's last prompt.",
  ),
  limit: UsedUpLimit.optional().describe(
    'The usage limit that the agent reported as used up, until a turn completes. Compare `resetsAt` with the time.',
  ),
  lastOutcome: Outcome.optional().describe('The outcome of the last turn that ended.'),
  delivered: z
    .int()
    .nonnegative()
    .optional()
    .describe('Clients of `/rpc` have received every entry up to this one.'),
  deliveredTurns: z
    .array(DeliveredTurns)
    .optional()
    .describe('The turns that clients of `/rpc` have received, in order.'),
  usage: Usage.describe('Tokens and cost of all turns.'),
  context: ContextUsage.optional().describe(
    'How full the context window is, as far as the agent reports it. Its size is that of the last model.',
  ),
  title: z
    .string()
    .optional()
    .describe('The title that the agent gave the session, or the beginning of its first prompt.'),
  model: z.string().optional().describe('The model in use.'),
  nativeSessionId: z
    .string()
    .optional()
    .describe("The agent's own session, once the agent has worked in it."),
  announcedSessionId: z
    .string()
    .optional()
    .describe("The agent's own session that it announced but has not worked in yet; resumed once."),
  resumedFrom: z.string().optional().describe("The agent's own session that this one continues."),
  handedOver: HandedOver.optional().describe('Set after another agent has continued the session.'),
  fork: z.boolean().optional().describe('True if it continues a copy of `resumedFrom`.'),
  frames: z.int().nonnegative().describe('The number of raw frames so far.'),
  coverage: Coverage.optional().describe('The frames of the agent by verdict.'),
  failure: ErrorInfo.optional().describe(
    'Why the log of the session cannot be written now. Its turn has stopped, and it accepts no commands until the log can be written. Not stored.',
  ),
  epoch: z
    .int()
    .nonnegative()
    .describe("The number of the agent's processes so far; the run id of each is `<id>.<epoch>`."),
})
export type SessionRecord = types.SessionRecord
