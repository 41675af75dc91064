import { z } from 'zod'
import { ownedSession, SessionPath } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from '../http/components.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { integer } from '../http/query.ts'
import { BoardSession, BoardStanding, boardSession } from './answers.ts'
import { stateOf } from './state.ts'

const BoardList = named(
  'BoardList',
  z.strictObject({
    sessions: z.array(BoardSession).describe('newest first'),
    next: z.string().optional().describe('`before` for the page after this one'),
  }),
)

const Cancelled = named(
  'Cancelled',
  BoardStanding.extend({ cancelled: z.boolean().describe('this call stopped it, and no other did') }),
)

/** Sessions as the board has them: to find them, to ask how they stand, to stop them. */
export function boardSessionEndpoints(deps: GatewayDeps): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      url: '/api/sessions',
      summary: 'The sessions of this token as the board has them, newest first',
      query: z.strictObject({
        before: z.string().optional().describe('older than this session'),
        limit: integer(1, 500).default(50),
      }),
      answer: BoardList,
      errors: ['session_not_found'],
      async run({ query: { before, limit }, principal }) {
        if (before !== undefined) await ownedSession(deps, principal, before)
        const found = await deps.sessions.records({
          principal,
          limit,
          ...(before !== undefined && { before }),
        })
        const next = found.length === limit ? found.at(-1)?.id : undefined
        return { sessions: found.map(boardSession), ...(next !== undefined && { next }) }
      },
    }),
    endpoint({
      method: 'GET',
      url: '/api/sessions/:id',
      summary: 'How a session stands: running, done, failed or cancelled',
      params: SessionPath,
      answer: BoardSession,
      errors: ['session_not_found'],
      run: async ({ params, principal }) => boardSession(await ownedSession(deps, principal, params.id)),
    }),
    cancelEndpoint(deps),
  ]
}

/** Stops what runs and drops what waits. Doing it again, or too late, changes nothing, and the answer says so. */
function cancelEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'POST',
    url: '/api/sessions/:id/cancel',
    summary: 'Stop a session, and wait until it has stopped',
    params: SessionPath,
    // Whatever a client says to it, stopping is not refused.
    body: z.unknown(),
    answer: Cancelled,
    errors: ['session_not_found'],
    async run({ params: { id }, principal }) {
      const before = stateOf(await ownedSession(deps, principal, id))
      const stopped = before === 'running' && (await deps.sessions.get(id)?.interruptAll())
      const state = stateOf(await ownedSession(deps, principal, id))
      return { id, state, cancelled: stopped === true }
    },
  })
}
