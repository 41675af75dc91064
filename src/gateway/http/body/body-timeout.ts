import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { GatewayTiming } from '../../deps.ts'
import { MergedMessage } from './merged-message.ts'

/**
 * Refuses a request whose body does not arrive in time. Node's own timeout has no exceptions, and a streamed upload may
 * take longer as long as it makes progress.
 */
export function limitBodies(app: FastifyInstance, { requestMs }: Pick<GatewayTiming, 'requestMs'>): void {
  const refuse = ({ socket }: IncomingMessage) => {
    // The same code as Node's own timeouts, so that one handler responds to both.
    const late = Object.assign(new Error('request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    app.server.emit('clientError', late, socket)
  }
  app.addHook('onRequest', async ({ raw, routeOptions }, reply) => {
    if (!hasBody(raw)) return
    const { socket } = raw
    if (raw instanceof MergedMessage && raw.headers['transfer-encoding'] !== undefined)
      reply.raw.prependOnceListener('finish', () => raw.complete || raw.destroyed || leaveRest(raw, socket))
    if (routeOptions.config?.streamed !== undefined) {
      raw.setTimeout(requestMs, () => refuse(raw))
      reply.raw.once('close', () => socket.setTimeout(0))
      return
    }
    const timer = setTimeout(() => refuse(raw), requestMs).unref()
    const stop = () => clearTimeout(timer)
    raw.once('end', stop)
    // A body that never ends keeps its timer after an early answer, because it would keep its connection.
    raw.once('close', stop)
  })
}

/** Time for a client to read a response that came before the end of its body. */
const LINGER_MS = 5_000

/** The response was sent before the end of the body. */
function leaveRest(raw: MergedMessage, socket: Socket): void {
  raw.discard()
  const close = setTimeout(() => raw.complete || socket.destroy(), LINGER_MS).unref()
  socket.once('close', () => clearTimeout(close))
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
