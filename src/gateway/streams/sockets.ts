import type { IncomingMessage } from 'node:http'
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { callOf, type Endpoint, type SocketWriter } from '../http/endpoint.ts'
import type { Revocation } from '../http/revocation.ts'
import { noticeJson, noticesOf } from './notices.ts'
import { SOCKET_ENDS, SocketStream } from './socket-stream.ts'

/** Maximum size in bytes of a client's message on a socket. */
const MAX_MESSAGE = 64 * 1024

/** A message in more frames or reads is refused: each takes more memory than the byte that it may contain. */
const MAX_FRAGMENTS = 64
const MAX_CHUNKS = 1024

/** Time for clients to read the end of a socket when the server stops. */
const DRAIN_MS = 1_000

const REVOKED = { token: SOCKET_ENDS.revoked, grant: SOCKET_ENDS.ungranted } as const

/** Ignores upgrades to other protocols, as HTTP allows. */
export function isSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/** The response to an upgrade has only the headers that are added here. Returns the ids of upgrade requests, to be filled. */
function answerUpgradesWithIds(app: FastifyInstance): WeakMap<IncomingMessage, string> {
  const ids = new WeakMap<IncomingMessage, string>()
  app.after(() =>
    app.websocketServer.on('headers', (headers: string[], request: IncomingMessage) =>
      headers.push(`x-request-id: ${ids.get(request)}`),
    ),
  )
  return ids
}

/** The route has validated its query; those of other protocols have no such parameter. */
function wantsNotices({ query }: FastifyRequest): boolean {
  return typeof query === 'object' && query !== null && 'notices' in query && query.notices === '1'
}

/**
 * Lets endpoints be opened as a WebSocket. Every rejection happens before the upgrade, with the same problems as any
 * request. The returned function builds the additional route options of such an endpoint.
 */
export function acceptSockets(
  app: FastifyInstance,
  { streams, timing, storage }: Pick<GatewayDeps, 'streams' | 'timing' | 'storage'>,
  revocation: Revocation,
): (endpoint: Endpoint) => Pick<RouteOptions, 'preHandler' | 'wsHandler'> {
  const stopping = new AbortController()
  const writers = new WeakMap<FastifyRequest, SocketWriter>()
  app.register(websocket, {
    options: {
      maxPayload: MAX_MESSAGE,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_CHUNKS,
      // One frame in a turn of the event loop: a packet may have ten thousand pings.
      allowSynchronousEvents: false,
      perMessageDeflate: false,
    },
    // A broken socket closes itself with a close frame, if it still can.
    errorHandler: (_error, socket) => socket.close(),
    preClose: (done) => {
      stopping.abort()
      const { clients } = app.websocketServer
      const cutOff = setTimeout(() => clients.forEach((client) => void client.terminate()), DRAIN_MS)
      app.websocketServer.close(() => clearTimeout(cutOff))
      done()
    },
  })
  const ids = answerUpgradesWithIds(app)
  app.addHook('preValidation', async ({ ws, is404, routeOptions }) => {
    if (ws && !is404 && !routeOptions.config.socket)
      throw new MainstemError('invalid_request', 'this path has no WebSocket')
  })
  // Fastify does not close the connection of a rejected upgrade request.
  app.addHook('onResponse', async ({ raw }) => {
    if (isSocketUpgrade(raw)) raw.socket.destroySoon()
  })
  return (endpoint) => {
    const { socket: open } = endpoint
    if (!open) return {}
    return {
      preHandler: async (request, reply) => {
        if (!request.ws) return
        ids.set(request.raw, request.id)
        writers.set(request, await open(callOf(endpoint, request, reply)))
        request.raw.socket.once('close', streams.enter(request.principal))
      },
      wsHandler: (socket, request) => {
        const notices = wantsNotices(request) ? noticesOf(storage, noticeJson) : undefined
        const stream = new SocketStream(socket, request.raw.socket, timing, stopping.signal, notices)
        socket.once(
          'close',
          revocation.add(request, (removed) => stream.cutOff(REVOKED[removed])),
        )
        return writers.get(request)?.(stream)
      },
    }
  }
}
