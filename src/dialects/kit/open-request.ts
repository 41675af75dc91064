import * as z from 'zod'
import { RequestOpened, RequestResolved, RequestWithdrawn } from '../../model/events/request.ts'
import { Decision } from '../../model/index.ts'
import type * as types from './open-request.types.ts'
import { argumentsOf } from './tool-output.ts'

const {
  requestId,
  kind,
  blocking,
  toolId,
  title,
  inputDigest,
  options,
  questions,
  permission,
  data,
  locations,
} = RequestOpened.shape
const { by, principal, client } = RequestResolved.shape

/** The HTTP call that answers a request. */
export const AnswerRoute = z.strictObject({
  method: z.literal('POST').describe('The HTTP method.'),
  path: z.string().describe('The path on the server.'),
})

/** An open request, with the HTTP call that answers it. */
export const OpenRequest = z.strictObject({
  requestId,
  kind,
  blocking,
  toolId,
  toolName: z.string().optional().describe("The agent's own name of the tool."),
  title,
  arguments: z.record(z.string(), z.unknown()).describe('The input of the tool call.'),
  permission,
  locations,
  data,
  options,
  questions,
  inputDigest,
  answer: AnswerRoute.describe('Send `decision` and `inputDigest` there, and `answers` for questions.'),
})
export type OpenRequest = types.OpenRequest

/** How a request was closed. */
export const ClosedRequest = z.strictObject({
  requestId,
  decision: Decision.optional().describe(
    'The decision; absent if the request was withdrawn or the agent does not report it.',
  ),
  reason: RequestWithdrawn.shape.reason.optional().describe('Why the request was withdrawn.'),
  by: by.optional().describe('Who decided; absent if the request was withdrawn.'),
  principal,
  client,
})
export type ClosedRequest = types.ClosedRequest

export function openRequest(session: string, event: RequestOpened): OpenRequest {
  const { requestId, kind, blocking, toolId, tool, title, input, options, questions, inputDigest } = event
  const { permission, locations, data } = event
  const path = `/v1/sessions/${session}/requests/${encodeURIComponent(requestId)}`
  return {
    requestId,
    kind,
    blocking,
    ...(toolId !== undefined && { toolId }),
    ...(tool !== undefined && { toolName: tool }),
    ...(title !== undefined && { title }),
    arguments: argumentsOf(input),
    ...(permission !== undefined && { permission }),
    ...(locations && { locations }),
    ...(data !== undefined && { data }),
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
    ...(event.type === 'request.withdrawn' ? { reason: event.reason } : authorOf(event)),
  }
}

function authorOf({
  by,
  principal,
  client,
}: RequestResolved): Pick<ClosedRequest, 'by' | 'principal' | 'client'> {
  return { by, ...(principal !== undefined && { principal }), ...(client && { client }) }
}
