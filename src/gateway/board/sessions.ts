import * as z from 'zod'
import { ownedSession, recordPage, SessionPath } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'
import { integer } from '../http/query.ts'
import { BoardSession, BoardStanding, boardSession } from './answers.ts'
import { stateOf } from './state.ts'

const BoardList = named(
  'BoardList',
  z.strictObject({
    sessions: z.array(BoardSession).describe('newest first'),
    next: z.string().optional().describe('pass it as `before` to get the next page'),
  }),
)

const Cancelled = named(
  'Cancelled',
  BoardStanding.extend({ cancelled: z.boolean().describe('this call stopped the session') }),
)

/** Endpoints to list sessions, read their state and cancel them, in the board API. */
export function boardSessionEndpoints(deps: GatewayDeps): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      url: '/api/sessions',
      summary: 'List the sessions of this token in board form, newest first',
      query: z.strictObject({
        before: z.string().optional().describe('only sessions older than this one'),
        limit: integer(1, 500).default(50),
      }),
      answer: BoardList,
      errors: ['session_not_found'],
      async run({ query: { before, limit }, principal }) {
        const query = { principals: [principal], limit, ...(before !== undefined && { before }) }
        const { records, ...next } = await recordPage(deps, query)
        return { sessions: records.map(boardSession), ...next }
      },
    }),
    endpoint({
      method: 'GET',
      url: '/api/sessions/:id',
      summary: 'Get the state of a session: running, done, failed or cancelled',
      params: SessionPath,
      answer: BoardSession,
      errors: ['session_not_found'],
      run: async ({ params, principal }) => boardSession(await ownedSession(deps, principal, params.id)),
    }),
    cancelEndpoint(deps),
  ]
}

/** Cancels the running turn and drops queued ones. Repeated or late calls change nothing, and the response says so. */
function cancelEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'POST',
    url: '/api/sessions/:id/cancel',
    client: 'board',
    summary: 'Stop a session and wait until it has stopped',
    params: SessionPath,
    // Accepts any body: a cancellation is never rejected.
    body: z.unknown(),
    answer: Cancelled,
    errors: ['session_not_found'],
    async run({ params: { id }, principal, actor }) {
      const before = stateOf(await ownedSession(deps, principal, id))
      const session = await deps.cluster.running(id)
      const stopped = before === 'running' && (await session?.interruptAll({ actor }))
      const state = stateOf(await ownedSession(deps, principal, id))
      return { id, state, cancelled: stopped === true }
    },
  })
}
