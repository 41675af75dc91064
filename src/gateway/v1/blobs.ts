import { z } from 'zod'
import { type BlobRef, MainstemError, type SessionRecord } from '../../model/index.ts'
import { ownedSession } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { latestFirst } from '../streams/latest-first.ts'

const BlobPath = z.strictObject({ session: z.string(), id: z.string().min(1).max(128) })

const BYTES = 'application/octet-stream'

/** Bytes that were too large for an event. */
export function blobEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/blobs/:session/:id',
    summary: 'Get the bytes that an event of a session refers to',
    params: BlobPath,
    answers: { [BYTES]: z.unknown() },
    errors: ['session_not_found', 'not_found'],
    async run({ params, principal, reply }) {
      const record = await ownedSession(deps, principal, params.session)
      const ref = await refIn(deps, record, params.id)
      const bytes = await deps.sessions.blob(ref)
      // The content comes from an agent: browsers must not render it as a page.
      reply.headers({ 'content-disposition': 'attachment', 'x-content-type-options': 'nosniff' })
      return reply.type(BYTES).send(Buffer.from(bytes))
    },
  })
}

/** Only blobs that the session's own log refers to: the store keeps the blobs of all principals together. */
async function refIn({ sessions }: GatewayDeps, record: SessionRecord, blobId: string): Promise<BlobRef> {
  for await (const { event } of latestFirst(sessions, record)) {
    if ('blob' in event && event.blob?.id === blobId) return event.blob
  }
  throw new MainstemError('not_found', 'no such blob in this session')
}
