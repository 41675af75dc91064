import type { FastifyError, FastifyReply } from 'fastify'
import * as z from 'zod'
import { RequestResolved } from '../../model/events/request.ts'
import { adviceFor, ERRORS, ErrorCode, MainstemError } from '../../model/index.ts'
import { named } from './openapi/components.ts'
import { answeredWith } from './request-scope.ts'

/** An RFC 9457 problem with our error code and advice. */
export const Problem = named(
  'Problem',
  z.strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: ErrorCode,
    advice: z.string(),
    field: z.string().optional().describe('the part of the request that is wrong'),
    earliest: z.int().optional().describe('the first entry that is kept'),
    retryAfter: z.int().positive().optional().describe('seconds to wait before a retry'),
    winner: RequestResolved.optional().describe('the decision that won'),
    requestId: z
      .string()
      .optional()
      .describe('the id of the request, as in `x-request-id` and in the log of the server'),
    unwritable: z
      .literal(true)
      .optional()
      .describe('the log of the session cannot be written; it has no new events until it can'),
  }),
)
export type Problem = z.infer<typeof Problem>

/** Error details that a problem includes. */
const Extra = Problem.pick({
  field: true,
  earliest: true,
  retryAfter: true,
  winner: true,
  unwritable: true,
}).strip()

export const PROBLEM_TYPE = 'application/problem+json'

/** Default for `Retry-After`, in seconds. */
const RETRY_AFTER = 5

export function problemOf(code: ErrorCode, detail: string, status: number = ERRORS[code].http): Problem {
  const title = code.replaceAll('_', ' ')
  return { type: `urn:mainstem:error:${code}`, title, status, detail, code, advice: ERRORS[code].advice }
}

export function sendProblem(reply: FastifyReply, problem: Problem): void {
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
  if (problem.status === 503) reply.header('retry-after', String(problem.retryAfter ?? RETRY_AFTER))
  // Also where no hook ran: a URL that cannot be read.
  reply.header('x-request-id', reply.request.id)
  const body = { ...answeredWith(problem), requestId: reply.request.id }
  // Sent as a string, so that no serializer overrides the content type.
  reply.code(problem.status).header('content-type', PROBLEM_TYPE).send(JSON.stringify(body))
}

/** Errors that the request did not cause. Overload and a stop are answered on purpose, and are not among them. */
export function isServerError({ code }: Problem): boolean {
  return code === 'unknown' || code === 'storage_failed'
}

/** Hides unexpected errors from the client, because their text may contain anything. */
export function problemFrom(thrown: unknown): Problem {
  if (thrown instanceof MainstemError && thrown.code !== 'unknown') {
    const { field, earliest, retryAfter, winner, unwritable } = Extra.parse(thrown.details ?? {})
    return {
      ...problemOf(thrown.code, thrown.message),
      advice: adviceFor(thrown),
      ...(field !== undefined && { field }),
      ...(earliest !== undefined && { earliest }),
      ...(retryAfter !== undefined && { retryAfter }),
      ...(winner && { winner }),
      ...(unwritable && { unwritable }),
    }
  }
  const { statusCode, message } = asHttpError(thrown)
  if (statusCode === 415) return problemOf('unsupported_media', 'the body must be JSON')
  if (statusCode >= 400 && statusCode < 500) return problemOf('invalid_request', message, statusCode)
  return problemOf('unknown', 'an internal error occurred')
}

function asHttpError(thrown: unknown): Pick<FastifyError, 'message'> & { statusCode: number } {
  if (!(thrown instanceof Error) || !('statusCode' in thrown)) return { statusCode: 500, message: '' }
  return { statusCode: Number(thrown.statusCode), message: thrown.message }
}
