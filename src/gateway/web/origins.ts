import type { FastifyReply, FastifyRequest } from 'fastify'
import { CLIENT_HEADER } from '../http/actor.ts'

const ALLOWED_HEADERS = `authorization, content-type, idempotency-key, last-event-id, ${CLIENT_HEADER}`
const ALLOWED_METHODS = 'GET, POST, DELETE'
const EXPOSED_HEADERS =
  'idempotent-replayed, location, mainstem-cursor, mainstem-session, mainstem-turn, retry-after'

/** How long a browser may remember the answer to a preflight request, in seconds. */
const PREFLIGHT_SECONDS = 600

/**
 * Lets a page of an allowed origin read the answer. Headers are set on the raw response, because streams write their
 * own head. Credentials are never allowed: such a page sends a token, and the cookie stays with our own page.
 */
export function shareWith(
  origin: string,
  request: FastifyRequest,
  { raw }: FastifyReply,
): 'preflight' | 'request' {
  raw.setHeader('access-control-allow-origin', origin)
  raw.setHeader('vary', 'origin')
  raw.setHeader('access-control-expose-headers', EXPOSED_HEADERS)
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined)
    return 'request'
  raw.setHeader('access-control-allow-methods', ALLOWED_METHODS)
  raw.setHeader('access-control-allow-headers', ALLOWED_HEADERS)
  raw.setHeader('access-control-max-age', PREFLIGHT_SECONDS)
  return 'preflight'
}
