import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteOptions,
} from 'fastify'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { endpointsOf } from '../routes.ts'
import { NDJSON } from '../streams/format.ts'
import { acceptSockets, isSocketUpgrade } from '../streams/sockets.ts'
import { requireToken } from './auth.ts'
import { limitBodies } from './body/body-timeout.ts'
import { parseJsonBody } from './body/json.ts'
import { MergedMessage } from './body/merged-message.ts'
import { readBody } from './body/read-body.ts'
import { Connections } from './connections.ts'
import { routeOf } from './endpoint.ts'
import { guardEdges, pathOf } from './guard.ts'
import { READY } from './health.ts'
import { divideLargeResponses } from './large-response.ts'
import { isServerError, PROBLEM_TYPE, type Problem, problemFrom, problemOf, sendProblem } from './problem.ts'
import { currentRequest } from './request-scope.ts'
import { Revocation } from './revocation.ts'
import { observeRequests, requestIdOf } from './server-stats.ts'

/** Accepts any parameters, because the decoder checks for UTF-8. */
const JSON_TYPES = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Node's limit for the request line and all headers together. A path parameter cannot be longer. */
const HEADER_BYTES = 16 * 1024

/** The HTTP server. It depends on sessions and dialects, never on agents, drivers or stores. */
export function gateway(given: GatewayDeps): FastifyInstance {
  const deps: GatewayDeps = { ...given, report: (thrown) => given.report(thrown, currentRequest()) }
  const { timing, limits } = deps
  const app = Fastify({
    // Ours is in `limitBodies`.
    requestTimeout: 0,
    http: {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: timing.headersMs,
      connectionsCheckingInterval: Math.ceil(timing.headersMs / 4),
      // A request without a Host reaches our guard, which returns an explanation.
      requireHostHeader: false,
      shouldUpgradeCallback: isSocketUpgrade,
      IncomingMessage: MergedMessage,
    },
    rewriteUrl: pathOf,
    // The router's limit of 100 characters is below the limits of our schemas, which take precedence.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: HEADER_BYTES },
    // Routes that still work while closing send their own response.
    return503OnClosing: false,
    // Only the address is taken from a proxy: `guardEdges` reads the headers that were sent.
    trustProxy: deps.trustProxy.length > 0 && [...deps.trustProxy],
    genReqId: requestIdOf,
    frameworkErrors: (error, _request, reply) => sendProblem(reply, problemFrom(error)),
    clientErrorHandler: refuseSocket,
  })
  limitBodies(app, timing)
  observeRequests(app, deps.stats, deps.access)
  divideLargeResponses(app, deps)
  const connections = new Connections(limits.connections, deps.unixSockets)
  connections.watch(app.server)
  acceptJson(app, deps)
  app.setErrorHandler((thrown, { routeOptions }, reply) => {
    const problem = problemFrom(thrown)
    // The check of the store reports a failure once, and not for each probe.
    if (isServerError(problem) && routeOptions.url !== READY) deps.report(thrown)
    sendProblem(reply, problem)
  })
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, problemOf('not_found', 'no such path')))
  guardEdges(app, deps)
  const unwatch = deps.storage.watch()
  app.addHook('onClose', async () => unwatch())
  const revocation = new Revocation(deps)
  app.addHook('onClose', async () => revocation.close())
  requireToken(app, deps, { connections, revocation })
  const socketOf = acceptSockets(app, deps, revocation)
  // Only routes added after the WebSocket plugin can be opened as a socket.
  app.after(() => {
    const routes = endpointsOf(deps).map((one) => ({ ...routeOf(one), ...socketOf(one) }))
    for (const route of routes) app.route(route)
    for (const route of otherMethods(routes)) app.route(route)
  })
  return app
}

/** Bodies are JSON, or absent where the route needs none. */
function acceptJson(
  app: FastifyInstance,
  { limits, uploads }: Pick<GatewayDeps, 'limits' | 'uploads'>,
): void {
  app.removeAllContentTypeParsers()
  const accept = async (request: FastifyRequest, payload: IncomingMessage) => {
    const { takesImages, bodyOptional } = request.routeOptions.config ?? {}
    const setting = takesImages && limits.imageBytes > limits.bodyBytes ? 'imageBytes' : 'bodyBytes'
    const body = await readBody(request, payload, { limit: limits[setting], setting, uploads })
    // Some clients send a content type even without a body.
    if (body.length === 0 && bodyOptional) return undefined
    if (!JSON_TYPES.test(request.headers['content-type'] ?? '')) throw notJson()
    return parseJsonBody(body, limits.jsonDepth)
  }
  app.addContentTypeParser(JSON_TYPES, accept)
  app.addContentTypeParser('application/x-www-form-urlencoded', accept)
  app.addContentTypeParser(NDJSON.type, async ({ routeOptions }: FastifyRequest, payload: unknown) => {
    if (routeOptions.config?.streamed === NDJSON.type) return payload
    throw notJson()
  })
}

function notJson(): MainstemError {
  return new MainstemError('unsupported_media', 'the body must be JSON')
}

/** Adds the missing methods of each path, so that a wrong method returns 405 instead of 404. */
function otherMethods(routes: readonly RouteOptions[]): RouteOptions[] {
  const urls = Map.groupBy(routes, ({ url }) => url)
  return [...urls].map(([url, known]) => {
    const methods = known.flatMap(({ method }) => method)
    if (methods.includes('GET')) methods.push('HEAD')
    const allow = methods.join(', ')
    const refuse = async (_request: FastifyRequest, reply: FastifyReply) => {
      reply.header('allow', allow)
      sendProblem(reply, problemOf('not_found', `this path accepts ${allow}`, 405))
    }
    const open = known.every(({ config }) => config?.auth === 'open')
    return {
      method: METHODS.filter((method) => !methods.includes(method)),
      url,
      config: { auth: open ? 'open' : 'header' },
      // Rejects before the body is read.
      onRequest: refuse,
      handler: refuse,
    }
  })
}

/** A malformed or slow request never reaches a route, so the response is written directly to the socket. */
function refuseSocket(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const problem = socketProblem(error.code)
  // Nothing of the request can be read, so it gets an id of its own.
  const requestId = requestIdOf({ headers: {} })
  const body = JSON.stringify({ ...problem, requestId })
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    `content-type: ${PROBLEM_TYPE}`,
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function socketProblem(code: string | undefined): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return problemOf('timeout', 'the request took too long to arrive', 408)
  if (code === 'HPE_HEADER_OVERFLOW') return problemOf('too_large', 'the headers are too large', 431)
  return problemOf('invalid_request', 'this is not an HTTP request', 400)
}
