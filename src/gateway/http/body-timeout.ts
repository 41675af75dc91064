import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { GatewayTiming } from '../deps.ts'

/**
 * Refuses a request whose body does not arrive in time. Node's own timeout has no exceptions, and a streamed upload may
 * take longer as long as it makes progress.
 */
export function limitBodies(app: FastifyInstance, { requestMs }: Pick<GatewayTiming, 'requestMs'>): void {
  const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>()
  const refuse = ({ socket }: IncomingMessage) => {
    // The same code as Node's own timeouts, so that one handler responds to both.
    const late = Object.assign(new Error('request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    app.server.emit('clientError', late, socket)
  }
  app.addHook('onRequest', async ({ raw, routeOptions }) => {
    if (!hasBody(raw)) return
    if (routeOptions.config?.streamed !== undefined) {
      raw.setTimeout(requestMs, () => refuse(raw))
      return
    }
    timers.set(raw, setTimeout(() => refuse(raw), requestMs).unref())
    // Also after an early answer: a body that never ends would keep its connection.
    raw.once('close', () => clearTimeout(timers.get(raw)))
  })
  app.addHook('preValidation', async ({ raw }) => clearTimeout(timers.get(raw)))
  app.addHook('onResponse', async ({ raw, routeOptions }) => {
    if (routeOptions.config?.streamed !== undefined) raw.setTimeout(0)
  })
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
