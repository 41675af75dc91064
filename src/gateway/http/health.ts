import * as z from 'zod'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps, Phase } from '../deps.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { named } from './openapi/components.ts'

const Health = named('Health', z.strictObject({ status: z.enum(['ok', 'ready']) }))

/** Work is accepted only between start and stop; that of a node among several goes to the others when it stops. */
export function checkReady({ phase, cluster }: Pick<GatewayDeps, 'phase' | 'cluster'>): void {
  const now = phase()
  // Until this node has stopped, it passes on to the others what it does not accept itself.
  if (now === 'ready' || (now === 'draining' && cluster.name !== undefined)) return
  throw notReady(now)
}

export function notReady(now: Phase): MainstemError {
  return new MainstemError(now === 'draining' ? 'draining' : 'overloaded', `the server is ${now}`)
}

export const READY = '/readyz'

/** Liveness and readiness. They reveal nothing else, so they require no token. */
export function healthEndpoints(deps: Pick<GatewayDeps, 'phase' | 'storage'>): Endpoint[] {
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
      url: READY,
      summary: 'Readiness check',
      auth: 'open',
      query: z.looseObject({}),
      answer: Health,
      errors: ['overloaded', 'draining', 'storage_failed'],
      async run() {
        const now = deps.phase()
        if (now !== 'ready') throw notReady(now)
        await deps.storage.run()
        return { status: 'ready' as const }
      },
    }),
  ]
}
