import type { IncomingMessage } from 'node:http'
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { callOf, type Endpoint, type Pour } from '../http/endpoint.ts'
import type { Revocation } from '../http/revocation.ts'
import { SOCKET_ENDS, SocketStream } from './socket-stream.ts'

/** In bytes: nothing that a client says on a socket is longer. */
const MAX_MESSAGE = 64 * 1024

/** How long readers may take to fetch the last of a socket when the server stops. */
const LAST_WORDS_MS = 1_000

/** Other protocols that a client offers to change to are declined in silence, as HTTP wants it. */
export function isSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Lets endpoints be opened as a WebSocket. Everything that can be refused is refused before the upgrade, with the
 * same problems as any request. The returned function is what such an endpoint adds to its route.
 */
export function acceptSockets(
  app: FastifyInstance,
  { streams, timing }: Pick<GatewayDeps, 'streams' | 'timing'>,
  revocation: Revocation,
): (endpoint: Endpoint) => Pick<RouteOptions, 'preHandler' | 'wsHandler'> {
  const stopping = new AbortController()
  const pours = new WeakMap<FastifyRequest, Pour>()
  app.register(websocket, {
    options: { maxPayload: MAX_MESSAGE, perMessageDeflate: false },
    // A socket that broke closes itself, and says so if it still can.
    errorHandler: (_error, socket) => socket.close(),
    preClose: (done) => {
      stopping.abort()
      const { clients } = app.websocketServer
      const cutOff = setTimeout(() => clients.forEach((client) => void client.terminate()), LAST_WORDS_MS)
      app.websocketServer.close(() => clearTimeout(cutOff))
      done()
    },
  })
  app.addHook('preValidation', async ({ ws, is404, routeOptions }) => {
    if (ws && !is404 && !routeOptions.config.socket)
      throw new MainstemError('invalid_request', 'this path has no WebSocket')
  })
  // Nobody else ends the connection of a request that was to be a socket and was refused.
  app.addHook('onResponse', async ({ raw }) => {
    if (isSocketUpgrade(raw)) raw.socket.destroySoon()
  })
  return (endpoint) => {
    const { socket: open } = endpoint
    if (!open) return {}
    return {
      preHandler: async (request, reply) => {
        if (!request.ws) return
        pours.set(request, await open(callOf(endpoint, request, reply)))
        request.raw.socket.once('close', streams.enter(request.principal))
      },
      wsHandler: (socket, request) => {
        const stream = new SocketStream(socket, timing, stopping.signal)
        socket.once(
          'close',
          revocation.add(request.principal, () => stream.cutOff(SOCKET_ENDS.revoked)),
        )
        return pours.get(request)?.(stream)
      },
    }
  }
}
