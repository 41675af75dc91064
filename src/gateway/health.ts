import type { RouteOptions } from 'fastify'
import { MainstemError } from '../model/index.ts'
import type { GatewayParts } from './parts.ts'

/** Work is taken only between start and stop. */
export function checkReady({ phase }: Pick<GatewayParts, 'phase'>): void {
  const now = phase()
  if (now === 'ready') return
  throw new MainstemError(now === 'draining' ? 'draining' : 'overloaded', `the server is ${now}`)
}

/** Is the process alive, and may it be given work? Neither tells anything else, so neither asks for a token. */
export function healthRoutes(parts: GatewayParts): RouteOptions[] {
  return [
    {
      method: 'GET',
      url: '/healthz',
      config: { auth: 'open' },
      handler: async () => ({ status: 'ok' }),
    },
    {
      method: 'GET',
      url: '/readyz',
      config: { auth: 'open' },
      handler: async () => {
        checkReady(parts)
        return { status: 'ready' }
      },
    },
  ]
}
