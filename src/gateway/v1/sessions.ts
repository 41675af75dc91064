import * as z from 'zod'
import { withoutSecrets } from '../../mask/secrets.ts'
import { SessionRecord } from '../../model/index.ts'
import {
  deletableSession,
  readableBy,
  readableSession,
  recordPage,
  SessionPath,
} from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'
import { Flag, integer } from '../http/query.ts'
import { PageRoom } from '../streams/page-room.ts'

const SessionList = named(
  'SessionList',
  z.strictObject({
    sessions: z.array(SessionRecord).describe('newest first'),
    next: z.string().optional().describe('pass it as `before` to get the next page'),
  }),
)

const ListQuery = z.strictObject({
  status: SessionRecord.shape.status.optional(),
  asking: Flag.optional().describe('1: only with an open request, 0: only without'),
  queued: Flag.optional().describe(
    '1: only with queued prompts, also those that continue later, 0: only without',
  ),
  failed: Flag.optional().describe(
    '1: only sessions whose last turn failed and that do not work again, 0: only others',
  ),
  before: z.string().optional().describe('only sessions older than this one'),
  limit: integer(1, 500).default(50),
})

/** Endpoints to list, read and delete sessions. */
export function sessionEndpoints(deps: GatewayDeps): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      url: '/v1/sessions',
      summary: 'List the sessions of this token, and of those that it has grants for, newest first',
      query: ListQuery,
      answer: SessionList,
      errors: ['session_not_found'],
      async run({ query: { limit, before, status, asking, queued, failed }, principal, reply }) {
        const principals = [...(await readableBy(deps, principal))]
        const room = await PageRoom.enter(deps, reply)
        const { records, ...next } = await recordPage(deps, {
          principals,
          limit,
          ...(before !== undefined && { before }),
          ...(status !== undefined && { status }),
          ...(asking !== undefined && { asking }),
          ...(queued !== undefined && { queued }),
          ...(failed !== undefined && { failed }),
        })
        room.complete()
        return { sessions: records.map(withoutSecrets), ...next }
      },
    }),
    endpoint({
      method: 'GET',
      url: '/v1/sessions/:id',
      summary: 'Get a session',
      params: SessionPath,
      answer: SessionRecord,
      errors: ['session_not_found'],
      run: async ({ params, request }) => withoutSecrets(await readableSession(deps, request, params.id)),
    }),
    endpoint({
      method: 'DELETE',
      url: '/v1/sessions/:id',
      summary:
        'End a session and delete its log, its raw frames and its blobs. An operator also deletes a damaged session.',
      params: SessionPath,
      status: 204,
      errors: ['session_not_found'],
      async run({ params, principal, roles, actor, reply }) {
        await deletableSession(deps, { principal, roles }, params.id)
        await deps.cluster.delete(params.id, { actor })
        return reply.code(204).send()
      },
    }),
  ]
}
