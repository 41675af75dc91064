import type { FastifyRequest } from 'fastify'
import { isOwnOrigin } from '../http/guard.ts'
import { SIGN_IN_MS } from './sign-in-cookie.ts'

/** Cookies ignore ports, so two servers on one machine need two names. */
function nameFor({ headers: { host = '' } }: FastifyRequest): string {
  return `mainstem-${/:(\d+)$/.exec(host)?.[1] ?? 'default'}`
}

/** The value for `Set-Cookie`; an empty value removes the cookie. */
export function setCookie(request: FastifyRequest, value: string): string {
  const seconds = value === '' ? 0 : SIGN_IN_MS / 1000
  // Only the browser knows whether a proxy in front of this server speaks TLS, and reports it as its origin.
  const secure = request.headers.origin?.startsWith('https:') ? '; Secure' : ''
  return `${nameFor(request)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
}

/**
 * The sign-in cookie of a request, unless another page could have caused it: `SameSite` treats every port of a machine
 * as one site, so a write and a WebSocket also need the Origin of our own page.
 */
export function cookieOf(request: FastifyRequest): string | undefined {
  const { cookie, origin, host, upgrade } = request.headers
  if (cookie === undefined) return undefined
  const reads = (request.method === 'GET' || request.method === 'HEAD') && upgrade === undefined
  if (origin === undefined ? !reads : !isOwnOrigin(origin, host)) return undefined
  const start = `${nameFor(request)}=`
  const found = cookie.split(/; */).find((pair) => pair.startsWith(start))
  return found?.slice(start.length) || undefined
}
