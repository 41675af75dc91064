import { z } from 'zod'
import { Outcome } from '../model/index.ts'
import { AskedQuestion, QUESTION_TOOL } from './daemon-request.ts'

const Questions = z.array(AskedQuestion).min(1)

const sessionId = z.string().optional().describe("the agent's own session id, once the agent has told it")
const raw = z
  .record(z.string(), z.unknown())
  .optional()
  .describe("the agent's own message, for readers that ask for it")

const ToolUse = z
  .strictObject({
    type: z.literal('tool_use'),
    tool: z.string(),
    input: z.union([z.record(z.string(), z.unknown()), Questions]).optional(),
    message: z.string().optional().describe('how the call is going'),
    request_id: z.string().optional().describe('the request that a question stands for'),
    raw,
  })
  .refine(({ tool, input }) => !input || Array.isArray(input) === (tool === QUESTION_TOOL), {
    message: `the input of ${QUESTION_TOOL}, and of no other tool, is a list of questions`,
  })

/** What `session.send` streams, but for the transport's `ping`. Readers skip types and fields they do not know. */
export const StreamEvent = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('system'),
    subtype: z
      .enum(['init', 'context_lost'])
      .describe(
        '`context_lost`: the agent does not know all of the earlier turns; `message` names the reason',
      ),
    session_id: sessionId,
    model: z.string().optional(),
    message: z.string().optional(),
    raw,
  }),
  z.strictObject({ type: z.literal('partial'), content: z.string() }),
  z.strictObject({ type: z.literal('text'), content: z.string(), raw }),
  ToolUse,
  z.strictObject({
    type: z.literal('result'),
    session_id: z.string().describe("the agent's own session id; ours, where it has none"),
    outcome: Outcome.optional().describe('absent when all went well'),
    raw,
  }),
  z.strictObject({ type: z.literal('queued'), position: z.int().positive() }),
  z.strictObject({
    type: z.literal('error'),
    message: z.string(),
    code: z.string().optional().describe('from the closed list of error codes'),
    outcome: Outcome,
  }),
  z.strictObject({ type: z.literal('interrupted'), outcome: Outcome.optional() }),
])
export type StreamEvent = z.infer<typeof StreamEvent>
