import type { FastifyRequest } from 'fastify'
import type { ClientKind } from '../../model/index.ts'

/** The header by which a client names its kind. It is a claim: the token proves the principal, nothing proves the kind. */
export const CLIENT_HEADER = 'x-mainstem-client'

/** The kind of client that sent a request: the page and the terminal name themselves, all others are `api`. */
export function clientOf({ headers }: FastifyRequest): ClientKind {
  const named = headers[CLIENT_HEADER]
  return named === 'page' || named === 'terminal' ? named : 'api'
}
