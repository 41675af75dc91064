import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { GatewayTiming } from '../../deps.ts'

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
    if (routeOptions.config?.streamed !== undefined) {
      const { socket } = raw
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

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
