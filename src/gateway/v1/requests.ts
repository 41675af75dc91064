import * as z from 'zod'
import { withoutSecrets } from '../../mask/secrets.ts'
import { RequestOpened } from '../../model/events/request.ts'
import {
  type BoundAnswer,
  Entry,
  MainstemError,
  RequestAnswer,
  SessionRecord,
  toMainstemError,
} from '../../model/index.ts'
import type { CommandContext } from '../../sessions/command-context.ts'
import { ownedSession, readableBy, readableSession } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { idempotent } from '../http/idempotent.ts'
import { named } from '../http/openapi/components.ts'
import { latestFirst } from '../streams/latest-first.ts'
import { openReady } from './commands.ts'

const OpenRequestJson = named(
  'OpenRequest',
  SessionRecord.pick({ agent: true, cwd: true, title: true }).extend({
    session: SessionRecord.shape.id,
    ...Entry.pick({ seq: true, turn: true, at: true }).shape,
    request: RequestOpened,
  }),
)
type OpenRequestJson = z.infer<typeof OpenRequestJson>

const RequestList = named(
  'RequestList',
  z.strictObject({ requests: z.array(OpenRequestJson).describe('oldest first') }),
)

named('RequestAnswer', RequestAnswer)

const RequestPath = z.strictObject({ id: z.string(), requestId: z.string().min(1).max(512) })

/** Lists open requests and answers them. */
export function requestEndpoints(deps: GatewayDeps): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      url: '/v1/requests',
      summary: 'List the open requests, oldest first',
      answer: RequestList,
      async run({ principal }) {
        const requests: OpenRequestJson[] = []
        const principals = [...(await readableBy(deps, principal))]
        for await (const record of deps.sessions.allRecords({ principals, asking: true })) {
          requests.push(...(await openRequests(deps, record)))
        }
        return { requests: requests.sort((a, b) => a.at - b.at || a.seq - b.seq) }
      },
    }),
    endpoint({
      method: 'POST',
      url: '/v1/sessions/:id/requests/:requestId',
      summary: 'Answer a request; the first decision wins',
      idempotent: true,
      params: RequestPath,
      body: RequestAnswer,
      answer: SessionRecord,
      errors: [
        'session_not_found',
        'request_not_found',
        'conflict',
        'idempotency_conflict',
        'unsupported_option',
      ],
      async run(call) {
        const { params, body } = call
        const { id } = params
        const record = await readableSession(deps, call.request, id)
        const run = async (context: CommandContext) => {
          await decide(deps, record, { ...body, type: 'answer', requestId: params.requestId }, context)
          return withoutSecrets(await ownedSession(deps, record.principal, id))
        }
        return idempotent(deps, call, { session: id, answer: 'session', run })
      },
    }),
  ]
}

export async function openRequests(deps: GatewayDeps, record: SessionRecord): Promise<OpenRequestJson[]> {
  const { id: session, agent, cwd, title } = record
  const open = new Set(record.requests.map(({ requestId }) => requestId))
  const found: OpenRequestJson[] = []
  for await (const { event, seq, turn, at } of latestFirst(deps.sessions, record)) {
    if (open.size === 0) break
    if (event.type !== 'request.opened' || !open.delete(event.requestId)) continue
    const more = { ...(title !== undefined && { title }), ...(turn !== undefined && { turn }) }
    found.push({ session, agent, cwd, seq, at, ...more, request: event })
  }
  return found
}

/** Answers a request that is open in this record of its session. */
async function decide(
  deps: GatewayDeps,
  record: SessionRecord,
  answer: BoundAnswer,
  context: CommandContext,
): Promise<void> {
  const { id } = record
  const { requestId } = answer
  if (record.requests.every((open) => open.requestId !== requestId))
    throw await whyClosed(deps, record, requestId)
  const session = await openReady(deps, id)
  try {
    await session.answer(answer, context)
  } catch (thrown) {
    // The request was open just before, so another client answered first.
    if (toMainstemError(thrown).code !== 'request_not_found') throw thrown
    throw await whyClosed(deps, await ownedSession(deps, record.principal, id), requestId)
  }
}

/** Returns why a request cannot be answered: it was already decided, or it never existed. */
async function whyClosed(
  deps: GatewayDeps,
  record: SessionRecord,
  requestId: string,
): Promise<MainstemError> {
  for await (const { event } of latestFirst(deps.sessions, record)) {
    if (!('requestId' in event) || event.requestId !== requestId) continue
    if (event.type === 'request.resolved') {
      return new MainstemError('conflict', 'the request was already answered', { winner: event })
    }
    const why = event.type === 'request.withdrawn' ? `was withdrawn: ${event.reason}` : 'is being answered'
    return new MainstemError('conflict', `the request ${why}`)
  }
  return new MainstemError('request_not_found', 'no such request')
}
