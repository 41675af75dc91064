import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { MainstemError } from '../model/index.ts'

/** A secret and who is meant by it: idempotency keys of one principal are unknown to another. */
export interface Token {
  principal: string
  token: string
}

/** How a route learns who asks: by header unless it says otherwise. */
type RouteAuth = 'header' | 'body' | 'open'

declare module 'fastify' {
  interface FastifyContextConfig {
    auth?: RouteAuth
  }
  interface FastifyRequest {
    /** Who asks; empty until that is known. */
    principal: string
  }
}

/** Authentication is switched off: everybody is the same one. */
const ANONYMOUS = 'anonymous'

/** Asks every request for a token, but on routes that are declared open. Without tokens everybody may come in. */
export function requireToken(app: FastifyInstance, tokens: readonly Token[] | undefined): void {
  app.decorateRequest('principal', '')
  const known = tokens?.map(({ principal, token }) => ({ principal, digest: digest(token) }))
  const admit = (request: FastifyRequest, presented: string | undefined) => {
    request.principal = known ? principalOf(known, presented) : ANONYMOUS
  }
  app.addHook('onRequest', async (request) => {
    const auth = authOf(request)
    if (auth === 'open') return
    const { authorization } = request.headers
    if (authorization === undefined && auth === 'body') return
    admit(request, bearerOf(authorization))
  })
  app.addHook('preValidation', async (request) => {
    if (authOf(request) === 'body' && request.principal === '') admit(request, bodyTokenOf(request.body))
  })
}

// A path that no route knows has no configuration: it is not open either.
function authOf(request: FastifyRequest): RouteAuth {
  return request.routeOptions.config?.auth ?? 'header'
}

function principalOf(known: readonly { principal: string; digest: Buffer }[], presented = ''): string {
  const asked = digest(presented)
  let found: string | undefined
  // Digests have one length, and all are compared: the time tells nothing about a token.
  for (const { principal, digest } of known) if (timingSafeEqual(digest, asked)) found = principal
  if (found === undefined) throw new MainstemError('unauthorized', 'a valid token is required')
  return found
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function bearerOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(header)?.[1]
}

function bodyTokenOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('auth_token' in body)) return undefined
  return typeof body.auth_token === 'string' ? body.auth_token : undefined
}
