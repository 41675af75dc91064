import * as z from 'zod'
import { BlobRef, Outcome } from '../../model/index.ts'
import { AskedQuestion, QUESTION_TOOL } from './daemon-request.ts'

const Questions = z.array(AskedQuestion).min(1)

const sessionId = z.string().optional().describe("the agent's session id, once the agent has reported it")
const raw = z
  .record(z.string(), z.unknown())
  .optional()
  .describe("the agent's native message, if the client requests it")

const ToolUse = z
  .strictObject({
    type: z.literal('tool_use'),
    tool: z.string(),
    input: z.union([z.record(z.string(), z.unknown()), Questions]).optional(),
    message: z.string().optional().describe('progress of the call'),
    blobs: z.array(BlobRef).optional().describe('large values of the result, at `/v1/blobs`'),
    request_id: z.string().optional().describe('the request that the question represents'),
    raw,
  })
  .refine(({ tool, input }) => !input || Array.isArray(input) === (tool === QUESTION_TOOL), {
    message: `only ${QUESTION_TOOL} has a list of questions as input`,
  })

/** The events of `session.send`, except for the transport's `ping`. Clients skip types and fields they do not know. */
export const StreamEvent = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('system'),
    subtype: z
      .enum(['init', 'context_lost', 'agent_silent', 'quota', 'handed_over'])
      .describe(
        '`context_lost`: the agent does not know all of the earlier turns; `agent_silent`: the agent writes nothing; `quota`: a usage limit is used up; `handed_over`: another agent continues the session; `message` has the details',
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
    session_id: z.string().describe("the agent's session id, or the Mainstem id if it has none"),
    outcome: Outcome.optional().describe('absent on success'),
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
