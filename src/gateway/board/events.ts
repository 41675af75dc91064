import * as z from 'zod'
import { board } from '../../dialects/board.ts'
import type { DialectOptions } from '../../dialects/dialect.ts'
import { dialects } from '../../dialects/index.ts'
import { MainstemError, type SessionRecord } from '../../model/index.ts'
import { ownedSession, SessionPath } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'
import { problemOf, sendProblem } from '../http/problem.ts'
import { integer } from '../http/query.ts'
import { type MessageCursor, parseCursor, START } from '../streams/cursor.ts'
import { Extensions, extensionOptions } from '../streams/extensions.ts'
import { MessageOffsets } from '../streams/message-offsets.ts'
import { NoticesFlag } from '../streams/notices.ts'
import { PageRoom } from '../streams/page-room.ts'
import type { StreamView } from '../streams/projector.ts'
import { streamLogToSocket } from '../streams/stream-log-to-socket.ts'
import { startOf } from '../v1/events.ts'
import { endOf } from './state.ts'

const EventsPage = named(
  'BoardEvents',
  z.strictObject({
    events: z.array(z.unknown()),
    offset: z.int().nonnegative(),
    limit: z.int().positive(),
    total: z.int().nonnegative().describe('the current number of messages'),
  }),
)

const dialect = z
  .enum([...dialects.keys()])
  .default(board.id)
  .transform((id) => dialects.get(id) ?? board)

const offset = integer(0, 999_999_999)

const SocketQuery = z.strictObject({
  dialect,
  extensions: Extensions,
  offset: offset.optional().describe('the number of messages you already have'),
  after: z
    .string()
    .optional()
    .describe('the last id you received, in the numbering of `/v1/sessions/{id}/events`'),
  confirm: z
    .literal('1')
    .optional()
    .describe('send `{"resumed":true}` first, as proof that `offset` or `after` was applied'),
  notices: NoticesFlag,
  ticket: z.string().optional(),
})

/** The message of `confirm`. */
const CONFIRMATION = JSON.stringify({ resumed: true })

/** Larger limits are rejected: a client that relies on the requested limit would miss the rest. */
const MAX_LIMIT = 10_000

/** The events of a session, counted in messages: as pages or over a WebSocket. */
export function boardEventEndpoints(deps: GatewayDeps): Endpoint[] {
  const offsets = new MessageOffsets(deps.sessions)
  return [
    endpoint({
      method: 'GET',
      url: '/api/sessions/:id/events',
      summary: 'List the events of a session from an offset',
      params: SessionPath,
      query: z.strictObject({
        dialect,
        extensions: Extensions,
        offset: offset.default(0),
        limit: integer(1, MAX_LIMIT).default(100),
      }),
      answer: EventsPage,
      errors: ['session_not_found', 'cursor_gone'],
      async run({ params, query, principal, reply }) {
        const record = await ownedSession(deps, principal, params.id)
        const { dialect, extensions, offset, limit } = query
        const counted = { dialect, options: extensionOptions(dialect, extensions) }
        // Counted before the page is read, because the page holds its segment of the log in memory until it is sent.
        const total = await offsets.total(record, counted)
        const room = await PageRoom.enter(deps, reply)
        const found = await offsets.slice(record, counted, { offset, limit, room })
        if (found.length === 0) await deps.sessions.repair(record.id)
        room.complete()
        return { events: found.map(({ message }) => message), offset, limit, total }
      },
    }),
    endpoint({
      method: 'GET',
      url: '/ws/sessions/:id',
      summary: 'Stream the events of a session over a WebSocket: replayed, then live, closed at the end',
      auth: 'ticket',
      params: SessionPath,
      query: SocketQuery,
      status: 101,
      errors: ['session_not_found', 'cursor_gone', 'overloaded'],
      async run({ reply }) {
        reply.header('upgrade', 'websocket').header('connection', 'upgrade')
        return sendProblem(reply, problemOf('invalid_request', 'this path is a WebSocket', 426))
      },
      async socket({ params, query, principal }) {
        const record = await ownedSession(deps, principal, params.id)
        const { dialect, extensions } = query
        const options = extensionOptions(dialect, extensions)
        const view: StreamView = { dialect, options, after: await cursorOf(offsets, record, query, options) }
        const from = await startOf(deps, record, view, 'after')
        return async (stream) => {
          if (query.confirm) await stream.sendAll([CONFIRMATION])
          await streamLogToSocket(deps, stream, { id: record.id, view, from, raw: false, endOf })
        }
      },
    }),
  ]
}

/** Clients resume by message id or by the number of messages they have. */
async function cursorOf(
  offsets: MessageOffsets,
  record: SessionRecord,
  { dialect, offset, after }: z.infer<typeof SocketQuery>,
  options: DialectOptions,
): Promise<MessageCursor> {
  if (offset === undefined || offset === 0) return parseCursor(after, 'after') ?? START
  if (after !== undefined) {
    throw new MainstemError('invalid_request', 'offset: cannot be combined with after', { field: 'offset' })
  }
  return offsets.cursorAt(record, { dialect, options }, offset)
}
