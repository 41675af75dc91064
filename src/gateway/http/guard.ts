import type { FastifyInstance, FastifyRequest } from 'fastify'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { shareWith } from '../web/origins.ts'

/** Query parameters in which clients may send a token, which would leak it to logs. */
const TOKEN_PARAMETERS = ['token', 'auth_token', 'access_token']

/** A host name or address with an optional port; a name with a trailing dot is a different name. */
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/

const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i

/** The `Sec-Fetch-Site` values of our own page and the address bar. */
const OWN_FETCH_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/**
 * Rejects requests that a foreign page could send, before authentication. A DNS-rebinding request arrives without an
 * Origin, so the Host must be a known one.
 */
export function guardEdges(
  app: FastifyInstance,
  { hosts, origins, unixSockets }: Pick<GatewayDeps, 'hosts' | 'origins' | 'unixSockets'>,
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
  })
}

/** Absolute-form request targets are valid; the path follows their authority. */
export function pathOf({ url = '/' }: { url?: string | undefined }): string {
  return url.replace(ABSOLUTE_FORM, '') || '/'
}

function authorityIn(target: string): string | undefined {
  return ABSOLUTE_FORM.exec(target)?.[1]
}

/** Maximum length of a foreign name in an error message. */
const SHOWN = 100

function checkHost(request: FastifyRequest, allowed: ReadonlySet<string>): void {
  const given = hostsOf(request)
  const target = authorityIn(request.originalUrl)
  if (target !== undefined) given.push(target)
  // With two Host headers, a proxy and this server might use different ones.
  const single = target === undefined ? given.length === 1 : given.length === 2
  if (!single || !given.every((host) => allowed.has(nameOf(host)))) {
    const names = given.map((host) => JSON.stringify(host.slice(0, SHOWN))).join(', ') || 'none'
    throw new MainstemError('forbidden', `this Host is not allowed: ${names}`, {
      advice: 'Call the server as 127.0.0.1 or localhost, or have the operator add the name to `hosts`.',
    })
  }
}

function hostsOf({ raw }: FastifyRequest): string[] {
  return raw.rawHeaders.filter((_, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === 'host')
}

function nameOf(authority: string): string {
  return AUTHORITY.exec(authority.toLowerCase())?.[1] ?? ''
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
  const parameter = TOKEN_PARAMETERS.find((name) => name in query)
  if (parameter !== undefined) {
    throw new MainstemError(
      'invalid_request',
      `${parameter}: do not send a token in the URL; use the Authorization header`,
      {
        field: parameter,
      },
    )
  }
}
