import type { FastifyError, FastifyReply } from 'fastify'
import { z } from 'zod'
import { RequestResolved } from '../../model/events/request.ts'
import { adviceFor, ERRORS, ErrorCode, MainstemError } from '../../model/index.ts'
import { named } from './components.ts'

/** An error as RFC 9457 writes it, with our code and the way out. */
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
    retryAfter: z.int().positive().optional().describe('seconds until it is worth another try'),
    winner: RequestResolved.optional().describe('the decision that was first'),
  }),
)
export type Problem = z.infer<typeof Problem>

/** What an error's details may add. */
const Extra = Problem.pick({ field: true, earliest: true, retryAfter: true, winner: true }).strip()

export const PROBLEM_TYPE = 'application/problem+json'

/** How long a client should wait before it tries again, in seconds, where nobody knows better. */
const RETRY_AFTER = 5

export function problemOf(code: ErrorCode, detail: string, status: number = ERRORS[code].http): Problem {
  const title = code.replaceAll('_', ' ')
  return { type: `urn:mainstem:error:${code}`, title, status, detail, code, advice: ERRORS[code].advice }
}

export function sendProblem(reply: FastifyReply, problem: Problem): void {
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
  if (problem.status === 503) reply.header('retry-after', String(problem.retryAfter ?? RETRY_AFTER))
  // A string, so that no serializer puts its own content type on it.
  reply.code(problem.status).header('content-type', PROBLEM_TYPE).send(JSON.stringify(problem))
}

/** Nothing of an unexpected error is told to the client; its text may hold anything. */
export function problemFrom(thrown: unknown): Problem {
  if (thrown instanceof MainstemError && thrown.code !== 'unknown') {
    const { field, earliest, retryAfter, winner } = Extra.parse(thrown.details ?? {})
    return {
      ...problemOf(thrown.code, thrown.message),
      advice: adviceFor(thrown),
      ...(field !== undefined && { field }),
      ...(earliest !== undefined && { earliest }),
      ...(retryAfter !== undefined && { retryAfter }),
      ...(winner && { winner }),
    }
  }
  const { statusCode, message } = asHttpError(thrown)
  if (statusCode === 413) {
    const advice = 'Send a smaller body, or have the operator raise `limits.bodyBytes`.'
    return { ...problemOf('too_large', 'the body is larger than this server takes'), advice }
  }
  if (statusCode === 415) return problemOf('unsupported_media', 'the body must be JSON')
  if (statusCode >= 400 && statusCode < 500) return problemOf('invalid_request', message, statusCode)
  return problemOf('unknown', 'the server failed to answer this request')
}

function asHttpError(thrown: unknown): Pick<FastifyError, 'message'> & { statusCode: number } {
  if (!(thrown instanceof Error) || !('statusCode' in thrown)) return { statusCode: 500, message: '' }
  return { statusCode: Number(thrown.statusCode), message: thrown.message }
}
