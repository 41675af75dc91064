import type { FastifyInstance, FastifyRequest } from 'fastify'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { shareWith } from '../web/origins.ts'
import { notReady } from './health.ts'

/** Query parameters in which clients may send a token, which would leak it to logs. */
const TOKEN_PARAMETERS = ['token', 'auth_token', 'access_token']

/** A host name or address with an optional port; a name with a trailing dot is a different name. */
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/

const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i

/** The `Sec-Fetch-Site` values of our own page and the address bar. */
const OWN_FETCH_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/**
 * Everything that is checked before the token. Rejects requests that a foreign page could send: a DNS-rebinding request
 * arrives without an Origin, so the Host must be a known one.
 */
export function guardEdges(
  app: FastifyInstance,
  { hosts, origins, unixSockets, phase }: Pick<GatewayDeps, 'hosts' | 'origins' | 'unixSockets' | 'phase'>,
): void {
  const allowed: ReadonlySet<string> = new Set(hosts.map((host) => host.toLowerCase()))
  app.addHook('onRequest', async (request, reply) => {
    if (!unixSockets.has(request.raw.socket)) checkHost(request, allowed)
    const { origin } = request.headers
    if (origin === undefined || !origins.includes(origin)) checkOrigin(request)
    else if (shareWith(origin, request, reply) === 'preflight') return reply.code(204).send()
    checkParameters(request)
    const encoding = request.headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') {
      throw new MainstemError('unsupported_media', 'a compressed body is not accepted')
    }
    // Until recovery is complete, only routes that require no token work.
    if (phase() === 'starting' && request.routeOptions.config?.auth !== 'open') throw notReady('starting')
  })
}

/** Absolute-form request targets are valid; the path follows their authority. */
export function pathOf({ url = '/' }: { url?: string | undefined }): string {
  return url.replace(ABSOLUTE_FORM, '') || '/'
}

/** Maximum length of a foreign name in an error message. */
const SHOWN = 100

function checkHost(request: FastifyRequest, allowed: ReadonlySet<string>): void {
  const hosts = request.raw.headersDistinct.host ?? []
  const target = ABSOLUTE_FORM.exec(request.originalUrl)?.[1]
  const given = target === undefined ? hosts : [...hosts, target]
  const isAllowed = (host: string) => allowed.has(AUTHORITY.exec(host.toLowerCase())?.[1] ?? '')
  // With two Host headers, a proxy and this server might use different ones.
  if (hosts.length !== 1 || !given.every(isAllowed)) {
    const names = given.map((host) => JSON.stringify(host.slice(0, SHOWN))).join(', ') || 'none'
    throw new MainstemError('forbidden', `this Host is not allowed: ${names}`, {
      advice: 'Call the server as 127.0.0.1 or localhost, or have the operator add the name to `hosts`.',
    })
  }
}

function checkOrigin(request: FastifyRequest): void {
  const { headers } = request
  const site = headers['sec-fetch-site']
  const foreign = typeof site === 'string' && !OWN_FETCH_SITES.has(site) && !isNavigation(request)
  if (foreign || (headers.origin !== undefined && !isOwnOrigin(headers.origin, headers.host))) {
    throw new MainstemError('forbidden', 'requests from another origin are not allowed')
  }
}

/** Navigation from another site to the page: it sends no body, and the site cannot read the response. */
function isNavigation({ method, headers, routeOptions }: FastifyRequest): boolean {
  const navigates = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return navigates && method === 'GET' && routeOptions.config?.navigable === true
}

/** The Host was validated before, so an origin that equals it is our own. */
export function isOwnOrigin(origin: string, host = ''): boolean {
  const from = URL.parse(origin)
  if (from?.protocol !== 'http:' && from?.protocol !== 'https:') return false
  return from.host === URL.parse(`${from.protocol}//${host}`)?.host
}

function checkParameters({ query }: FastifyRequest): void {
  if (typeof query !== 'object' || query === null) return
  for (const field of TOKEN_PARAMETERS) {
    if (!(field in query)) continue
    const message = `${field}: do not send a token in the URL; use the Authorization header`
    throw new MainstemError('invalid_request', message, { field })
  }
}
