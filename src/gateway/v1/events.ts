import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import { dialects } from '../../dialects/index.ts'
import { mainstem } from '../../dialects/mainstem.ts'
import { Entry, MainstemError, type SessionRecord } from '../../model/index.ts'
import { readableSession, SessionPath } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'
import { integer } from '../http/query.ts'
import { checkKept, checkReached, parseCursor, START } from '../streams/cursor.ts'
import { EventStream } from '../streams/event-stream.ts'
import { EventTypes } from '../streams/event-types.ts'
import { Extensions, extensionOptions } from '../streams/extensions.ts'
import { formatOf, NDJSON, SSE, type StreamFormat } from '../streams/format.ts'
import { MessageOffsets } from '../streams/message-offsets.ts'
import { type Notices, NoticesFlag, streamNotices } from '../streams/notices.ts'
import { Page, PageReader, pageOf, type Reading } from '../streams/page.ts'
import { ProjectionCache } from '../streams/projection-cache.ts'
import { Projector, type StreamView } from '../streams/projector.ts'
import { SOCKET_ENDS } from '../streams/socket-stream.ts'
import { streamLog } from '../streams/stream-log.ts'
import { streamLogToSocket } from '../streams/stream-log-to-socket.ts'

const EntryWithRaw = named('EntryWithRaw', Entry.extend({ raw: z.string().optional() }))

const EventsQuery = z.strictObject({
  after: z.string().optional().describe('the last id you received; `Last-Event-ID` takes precedence'),
  offset: integer(0, 999_999_999)
    .optional()
    .describe('the number of messages you already have, instead of `after`'),
  types: EventTypes.optional(),
  dialect: z.enum([...dialects.keys()]).optional(),
  raw: z.literal('1').optional().describe('include the native frame of each entry'),
  partial_json: z.literal('1').optional().describe('include tool input deltas, if the dialect has them'),
  extensions: Extensions,
  limit: integer(1, 1000).optional().describe('messages per page; default 100'),
  wait: integer(0, 60).optional().describe('seconds to wait for the first message of a page'),
  notices: NoticesFlag,
  ticket: z.string().optional(),
})
type EventsQuery = z.infer<typeof EventsQuery>

/** The log of one session: as a live stream or in pages. */
export function eventsEndpoint(deps: GatewayDeps): Endpoint {
  const cache = new ProjectionCache()
  const offsets = new MessageOffsets(deps.sessions)
  return endpoint({
    method: 'GET',
    url: '/v1/sessions/:id/events',
    summary: 'Read the events of a session: replayed, then live, or one page; also as a WebSocket',
    auth: 'ticket',
    params: SessionPath,
    query: EventsQuery,
    answers: { [SSE.type]: EntryWithRaw, [NDJSON.type]: EntryWithRaw, 'application/json': Page },
    errors: ['session_not_found', 'cursor_gone', 'overloaded'],
    async run({ params: { id }, query, principal, request, reply }) {
      const record = await readableSession(deps, request, id)
      const format = formatOf(request.headers.accept)
      const view = await viewOf(offsets, record, query, request.headers['last-event-id'])
      const from = await startOf(deps, record, view, query.after === undefined ? undefined : 'after')
      const reading: Reading = { id, view, from, raw: query.raw === '1' }
      if (!format) return pageOf(deps, reply, principal, { ...reading, record, query, cache })
      checkStreamQuery(query)
      const over = await isOver(deps, record, reading, cache)
      // 204 stops an EventSource from reconnecting.
      if (over && format === SSE) return reply.code(204).send()
      if (over) return reply.type(format.type).send('')
      if (request.method === 'HEAD') return reply.type(format.type).send()
      const notices = streamNotices(deps.storage, format, query.notices)
      return stream(deps, principal, reply, { ...reading, format, notices })
    },
    async socket({ params: { id }, query, request }) {
      const record = await readableSession(deps, request, id)
      checkStreamQuery(query)
      const view = await viewOf(offsets, record, query, request.headers['last-event-id'])
      const from = await startOf(deps, record, view, query.after === undefined ? undefined : 'after')
      const endOf = ({ status }: SessionRecord) => (status === 'ended' ? SOCKET_ENDS.ended : undefined)
      return (stream) => streamLogToSocket(deps, stream, { id, view, from, raw: query.raw === '1', endOf })
    },
  })
}

async function stream(
  deps: GatewayDeps,
  principal: string,
  reply: FastifyReply,
  { id, view, from, raw, format, notices }: Reading & { format: StreamFormat; notices: Notices | undefined },
): Promise<void> {
  const leave = deps.streams.enter(principal)
  try {
    reply.hijack()
    const out = new EventStream(reply.raw, format, { 'mainstem-session': id }, deps.timing, notices)
    await streamLog(deps, out, { session: id, from, projector: new Projector(view), format, raw })
  } finally {
    leave()
  }
}

/** Returns whether the client has every message. The last entry may have several. */
async function isOver(
  deps: GatewayDeps,
  { status, head }: SessionRecord,
  reading: Reading,
  cache: ProjectionCache,
): Promise<boolean> {
  const { seq, part } = reading.view.after
  if (status !== 'ended' || seq < head) return false
  if (!Number.isFinite(part)) return true
  const rest = new PageReader(deps, reading, { limit: 1 }, cache)
  await rest.read(head)
  return rest.empty
}

async function viewOf(
  offsets: MessageOffsets,
  record: SessionRecord,
  query: EventsQuery,
  lastEventId: string | string[] | undefined,
): Promise<StreamView> {
  const dialect = dialects.get(query.dialect ?? mainstem.id) ?? mainstem
  const { raw, partial_json, offset } = query
  checkOffset(query)
  const options = extensionOptions(dialect, query.extensions)
  const after =
    parseCursor(lastEventId) ??
    (offset === undefined
      ? parseCursor(query.after, 'after')
      : await offsets.cursorAt(record, { dialect, options }, offset)) ??
    START
  return {
    dialect,
    options: { ...options, ...(raw && { raw }), ...(partial_json && { partial_json }) },
    after,
    types: query.types,
  }
}

/**
 * Returns the entry to start reading after. Only the native dialect can start in the middle; the others need every
 * entry.
 */
export async function startOf(
  { sessions }: GatewayDeps,
  record: SessionRecord,
  { dialect, after }: StreamView,
  field: string | undefined,
): Promise<number> {
  await checkReached(sessions, record, after, field)
  const { earliest = 1 } = record
  // Without a cursor the stream starts at the first retained entry; its seq shows where that is.
  const first = after === START ? earliest - 1 : after.seq
  const from = dialect === mainstem ? first : 0
  checkKept(from, earliest)
  return from
}

/** An offset counts all messages of a dialect, so it has no meaning where some are left out or added. */
function checkOffset(query: EventsQuery): void {
  if (query.offset === undefined) return
  const other = (['after', 'types', 'raw', 'partial_json'] as const).find((name) => query[name] !== undefined)
  if (other === undefined) return
  const message = `offset: cannot be combined with ${other}`
  throw new MainstemError('invalid_request', message, { field: 'offset' })
}

function checkStreamQuery(query: EventsQuery): void {
  const field = (['limit', 'wait'] as const).find((name) => query[name] !== undefined)
  if (!field) return
  throw new MainstemError('invalid_request', `${field}: only applies to application/json pages`, { field })
}
