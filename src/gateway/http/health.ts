import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from './components.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { StorageCheck } from './storage-check.ts'

const Health = named('Health', z.strictObject({ status: z.enum(['ok', 'ready']) }))

/** Work is accepted only between start and stop. */
export function checkReady({ phase }: Pick<GatewayDeps, 'phase'>): void {
  const now = phase()
  if (now === 'ready') return
  throw new MainstemError(now === 'draining' ? 'draining' : 'overloaded', `the server is ${now}`)
}

/** Routes that require a token return 503 until recovery is complete; the other routes work. */
export function refuseUntilStarted(app: FastifyInstance, { phase }: Pick<GatewayDeps, 'phase'>): void {
  app.addHook('onRequest', async ({ routeOptions }) => {
    if (phase() === 'starting' && routeOptions.config?.auth !== 'open') checkReady({ phase })
  })
}

/** Liveness and readiness. They reveal nothing else, so they require no token. */
export function healthEndpoints(deps: Pick<GatewayDeps, 'phase' | 'probe' | 'report'>): Endpoint[] {
  const storage = new StorageCheck(deps)
  return [
    endpoint({
      method: 'GET',
      url: '/healthz',
      summary: 'Liveness check',
      auth: 'open',
      query: z.looseObject({}),
      answer: Health,
      run: async () => ({ status: 'ok' as const }),
    }),
    endpoint({
      method: 'GET',
      url: '/readyz',
      summary: 'Readiness check',
      auth: 'open',
      query: z.looseObject({}),
      answer: Health,
      errors: ['overloaded', 'draining', 'storage_failed'],
      async run() {
        checkReady(deps)
        await storage.run()
        return { status: 'ready' as const }
      },
    }),
  ]
}
