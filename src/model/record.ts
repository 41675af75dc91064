import { z } from 'zod'
import { LaunchKind } from './capability.ts'
import { Coverage } from './coverage.ts'
import { RequestOpened } from './events/request.ts'
import { SessionId, SessionName } from './ids.ts'
import { Image, SessionOptions } from './options.ts'
import { Outcome } from './outcome.ts'
import { Policy } from './policy.ts'
import { Usage } from './usage.ts'

/** What a session is now: a fold over its log, kept beside it so that nobody has to read the log to know. */
export const SessionRecord = z.strictObject({
  id: SessionId,
  principal: z.string().describe('who it belongs to'),
  agent: z.string(),
  launch: LaunchKind,
  cwd: z.string(),
  project: z.string().optional().describe('the project that its client named'),
  name: SessionName.optional().describe('the name that its client gave it'),
  policy: Policy,
  mode: z.string().optional().describe("the agent's own mode, where one was chosen by its name"),
  options: SessionOptions,
  attended: z.boolean().describe('somebody can answer requests'),
  status: z.enum(['idle', 'busy', 'ended']),
  createdAt: z.int(),
  updatedAt: z.int(),
  head: z.int().nonnegative().describe('the last seq'),
  earliest: z
    .int()
    .positive()
    .optional()
    .describe('the first entry that is kept, where older ones were dropped'),
  earliestFrame: z.int().positive().optional().describe('the same of raw frames'),
  turns: z.int().nonnegative().describe('the last turn number given'),
  openTurn: z.int().positive().optional(),
  silentSince: z
    .int()
    .optional()
    .describe('when the agent last wrote something, once a notice has reported its silence in the open turn'),
  queue: z.array(
    z.strictObject({ turn: z.int().positive(), prompt: z.string(), images: z.array(Image).optional() }),
  ),
  requests: z.array(RequestOpened).describe('open requests, oldest first'),
  lastOutcome: Outcome.optional(),
  delivered: z.int().nonnegative().optional().describe('clients of `/rpc` have every entry up to this one'),
  deliveredTurns: z
    .array(
      z.strictObject({
        first: z.int().positive(),
        last: z.int().positive(),
        seq: z.int().positive().optional().describe('only up to this entry: the turn had not ended'),
      }),
    )
    .optional()
    .describe('the turns that clients of `/rpc` have, in order'),
  usage: Usage.describe('all turns together'),
  title: z.string().optional(),
  model: z.string().optional(),
  nativeSessionId: z.string().optional().describe("the agent's session, once work was done in it"),
  announcedSessionId: z
    .string()
    .optional()
    .describe("the agent's session that it announced and has not worked in; resumed once"),
  resumedFrom: z.string().optional(),
  frames: z.int().nonnegative().describe('raw frames in the journal so far'),
  coverage: Coverage.optional().describe('what became of the frames'),
  epoch: z
    .int()
    .nonnegative()
    .describe('native processes started so far; the run id of each is `<id>.<epoch>`'),
})
export type SessionRecord = z.infer<typeof SessionRecord>
