import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Role } from '../../model/access.ts'
import { MainstemError } from '../../model/index.ts'
import { OWNER } from '../../model/owner.ts'
import type { GatewayDeps } from '../deps.ts'
import { cookieOf } from '../web/cookie-header.ts'
import type { Connections } from './connections.ts'
import type { Revocation } from './revocation.ts'

/** Who calls: resources of one principal are invisible to another. */
export interface Caller {
  principal: string
  /** What the principal may do besides using its own sessions. */
  roles: readonly Role[]
}

/** A token, and the caller that it proves. */
export interface Token extends Caller {
  /** SHA-256 in hexadecimal. A token has 256 random bits, so a slow hash is not needed. */
  digest: string
  /** Set for the token of a command line, which its principal allowed on the page. */
  login?: CommandLine | undefined
}

/** The token of a command line. */
export type LoginToken = Token & { login: CommandLine }

/** A command line that acts for a principal. */
export interface CommandLine {
  /** What the command line calls itself, usually its host. */
  name: string
  createdAt: number
}

export function isLogin(token: Token): token is LoginToken {
  return token.login !== undefined
}

export function tokenOf(principal: string, token: string, roles: readonly Role[] = []): Token {
  return { principal, roles, digest: digest(token).toString('hex') }
}

export function isOperator({ roles }: Pick<Caller, 'roles'>): boolean {
  return roles.includes('operator')
}

/**
 * How a route authenticates: by header unless declared otherwise; every other kind also accepts the credential it
 * names.
 */
export type RouteAuth = 'header' | 'body' | 'ticket' | 'open'

declare module 'fastify' {
  interface FastifyContextConfig {
    auth?: RouteAuth
  }
  interface FastifyRequest {
    /** The authenticated principal; empty before authentication. */
    principal: string
    /** Absent before authentication. */
    roles?: readonly Role[]
    /** The token that authenticated the request. Undefined before authentication. */
    token: Token
    /** The other principals whose sessions the response has, by their grants. */
    grantedBy: Set<string>
  }
}

/** The principal of the first token. Without authentication every request has this principal. */
export const LOCAL = OWNER

/** The person who runs the server; everybody, where authentication is disabled. */
export const OPERATOR: Token = { principal: LOCAL, roles: ['operator'], digest: '' }

/** Requires a token on every route that is not declared open. Without tokens every request is accepted. */
export function requireToken(
  app: FastifyInstance,
  { tokens, tickets, cookies, turns }: Pick<GatewayDeps, 'tokens' | 'tickets' | 'cookies' | 'turns'>,
  { connections, revocation }: { connections: Connections; revocation: Revocation },
): void {
  app.decorateRequest('principal', '')
  app.decorateRequest('roles')
  app.decorateRequest('token')
  app.decorateRequest('grantedBy')
  const admit = async (request: FastifyRequest, token: Token) => {
    const { principal, roles } = token
    connections.trust(request.raw.socket, principal)
    request.principal = principal
    request.roles = roles
    request.token = token
    request.grantedBy = new Set()
    await turns.take(principal)
  }
  if (tokens) endRevoked(app, revocation)
  const proven = async (presented: string | undefined) =>
    tokens ? tokenPresented(await tokens(), presented) : OPERATOR
  app.addHook('onRequest', async (request) => {
    // An unknown path has no route configuration and is not open.
    const auth = request.routeOptions.config?.auth ?? 'header'
    if (auth === 'open') return
    const { authorization } = request.headers
    if (authorization !== undefined) return admit(request, await proven(BEARER.exec(authorization)?.[1]))
    const ticket = ticketOf(request.query)
    const cookie = tokens && ticket === undefined ? cookieOf(request) : undefined
    if (tokens && cookie !== undefined) return admit(request, cookies.tokenOf(cookie, await tokens()))
    if (auth === 'body') return
    const isRedeemed = auth === 'ticket' && ticket !== undefined
    const holder = isRedeemed && (await tickets.redeem(ticket, tokens ? await tokens() : [OPERATOR]))
    return admit(request, holder || (await proven(undefined)))
  })
  app.addHook('preValidation', async (request) => {
    if (request.principal === '' && request.routeOptions.config?.auth === 'body')
      await admit(request, await proven(bodyTokenOf(request.body)))
  })
}

/** Ends the response of a request whose token or grant is removed. */
function endRevoked(app: FastifyInstance, revocation: Revocation): void {
  app.addHook('preHandler', async (request, { raw }) => {
    // A WebSocket has a response only until its upgrade; it is closed with a code instead.
    if (request.principal === '' || request.ws) return
    raw.once(
      'close',
      revocation.add(request, () => raw.destroy()),
    )
  })
}

/** Returns the token that was presented; throws `unauthorized` if it is unknown. */
export function tokenPresented(known: readonly Token[], presented = ''): Token {
  const asked = digest(presented)
  let found: Token | undefined
  // Digests have equal length and all are compared, so the timing reveals nothing about a token.
  for (const token of known) {
    if (timingSafeEqual(Buffer.from(token.digest, 'hex'), asked)) found = token
  }
  if (found === undefined) throw new MainstemError('unauthorized', 'a valid token is required')
  return found
}

/** Returns a token that was used before, if it still exists. */
export function sameToken(known: readonly Token[], { principal, digest }: Token): Token | undefined {
  return known.find((token) => token.digest === digest && token.principal === principal)
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

const BEARER = /^Bearer +(\S+) *$/i

function ticketOf(query: unknown): string | undefined {
  if (typeof query !== 'object' || query === null || !('ticket' in query)) return undefined
  return typeof query.ticket === 'string' ? query.ticket : undefined
}

function bodyTokenOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('auth_token' in body)) return undefined
  return typeof body.auth_token === 'string' ? body.auth_token : undefined
}
