import { z } from 'zod'
import { RequestOpened, type RequestResolved, RequestWithdrawn } from '../model/events/request.ts'
import { Decision } from '../model/index.ts'
import { argumentsOf } from './tool-output.ts'

const { requestId, kind, blocking, toolId, title, inputDigest, options, questions } = RequestOpened.shape

/** A request that awaits a client's decision, and the endpoint that answers it. */
export const OpenRequest = z.strictObject({
  requestId,
  kind,
  blocking: blocking.describe('false: the agent continues to work in the meantime'),
  toolId,
  toolName: z.string().optional(),
  title,
  arguments: z.record(z.string(), z.unknown()).describe('what the tool would run with'),
  options: options.describe('the decisions that the agent offers'),
  questions,
  inputDigest,
  answer: z
    .strictObject({ method: z.literal('POST'), path: z.string() })
    .describe('send `decision` and `inputDigest` there; `answers` for questions'),
})
export type OpenRequest = z.infer<typeof OpenRequest>

/** How a request was decided, or why it was withdrawn. */
export const ClosedRequest = z.strictObject({
  requestId,
  decision: Decision.optional().describe(
    'absent if the request was withdrawn or the decision is not visible',
  ),
  reason: RequestWithdrawn.shape.reason.optional().describe('why it was withdrawn'),
})
export type ClosedRequest = z.infer<typeof ClosedRequest>

export function openRequest(session: string, event: RequestOpened): OpenRequest {
  const { requestId, kind, blocking, toolId, tool, title, input, options, questions, inputDigest } = event
  const path = `/v1/sessions/${session}/requests/${encodeURIComponent(requestId)}`
  return {
    requestId,
    kind,
    blocking,
    ...(toolId !== undefined && { toolId }),
    ...(tool !== undefined && { toolName: tool }),
    ...(title !== undefined && { title }),
    arguments: argumentsOf(input),
    options,
    ...(questions && { questions }),
    inputDigest,
    answer: { method: 'POST', path },
  }
}

export function closedRequest(event: RequestResolved | RequestWithdrawn): ClosedRequest {
  const { requestId, decision } = event
  return {
    requestId,
    ...(decision && { decision }),
    ...(event.type === 'request.withdrawn' && { reason: event.reason }),
  }
}
