import { z } from 'zod'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from './components.ts'
import { type Endpoint, endpoint } from './endpoint.ts'

const Health = named('Health', z.strictObject({ status: z.enum(['ok', 'ready']) }))

/** Work is taken only between start and stop. */
export function checkReady({ phase }: Pick<GatewayDeps, 'phase'>): void {
  const now = phase()
  if (now === 'ready') return
  throw new MainstemError(now === 'draining' ? 'draining' : 'overloaded', `the server is ${now}`)
}

/** Is the process alive, and may it be given work? Neither tells anything else, so neither asks for a token. */
export function healthEndpoints(deps: Pick<GatewayDeps, 'phase'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      url: '/healthz',
      summary: 'Is the process alive?',
      auth: 'open',
      query: z.looseObject({}),
      answer: Health,
      run: async () => ({ status: 'ok' as const }),
    }),
    endpoint({
      method: 'GET',
      url: '/readyz',
      summary: 'May it be given work?',
      auth: 'open',
      query: z.looseObject({}),
      answer: Health,
      errors: ['overloaded', 'draining'],
      async run() {
        checkReady(deps)
        return { status: 'ready' as const }
      },
    }),
  ]
}
