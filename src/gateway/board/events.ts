import { z } from 'zod'
import { board } from '../../dialects/board.ts'
import { dialects } from '../../dialects/index.ts'
import { MainstemError, type SessionRecord } from '../../model/index.ts'
import { ownedSession, SessionPath } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from '../http/components.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { problemOf, sendProblem } from '../http/problem.ts'
import { integer } from '../http/query.ts'
import { badCursor, type Cursor, parseCursor, START } from '../streams/cursor.ts'
import { PageRoom } from '../streams/page-room.ts'
import type { View } from '../streams/projector.ts'
import { streamLogToSocket } from '../streams/stream-log-to-socket.ts'
import { startOf } from '../v1/events.ts'
import { Counting } from './counting.ts'
import { endOf } from './state.ts'

const EventsPage = named(
  'BoardEvents',
  z.strictObject({
    events: z.array(z.unknown()),
    offset: z.int().nonnegative(),
    limit: z.int().positive(),
    total: z.int().nonnegative().describe('how many there are by now'),
  }),
)

const dialect = z
  .enum([...dialects.keys()])
  .default(board.id)
  .transform((id) => dialects.get(id) ?? board)

const offset = integer(0, 999_999_999)

const SocketQuery = z.strictObject({
  dialect,
  offset: offset.optional().describe('how many messages you have already'),
  after: z.string().optional().describe('the last id you have, as `/v1/sessions/{id}/events` counts them'),
  ticket: z.string().optional(),
})

/** More is refused: a client that counts on what it asked for would leave out the rest. */
const MAX_LIMIT = 10_000

/** What happened in a session, counted in messages: page by page, or on a socket. */
export function boardEventEndpoints(deps: GatewayDeps): Endpoint[] {
  const counting = new Counting(deps.sessions)
  return [
    endpoint({
      method: 'GET',
      url: '/api/sessions/:id/events',
      summary: 'The events of a session from an offset on',
      params: SessionPath,
      query: z.strictObject({
        dialect,
        offset: offset.default(0),
        limit: integer(1, MAX_LIMIT).default(100),
      }),
      answer: EventsPage,
      errors: ['session_not_found', 'cursor_gone'],
      async run({ params, query, principal, reply }) {
        const record = await ownedSession(deps, principal, params.id)
        const { dialect, offset, limit } = query
        // Before the page: its piece of the log stays in memory until it is sent.
        const total = await counting.total(record, dialect)
        const room = await PageRoom.enter(deps, reply)
        const found = await counting.slice(record, dialect, { offset, limit, room })
        room.complete()
        return { events: found.map(({ message }) => message), offset, limit, total }
      },
    }),
    endpoint({
      method: 'GET',
      url: '/ws/sessions/:id',
      summary: 'A WebSocket: the events of a session so far, then live, closed when it is over',
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
        const after = await cursorOf(counting, record, query)
        const view: View = { dialect: query.dialect, options: {}, after }
        const from = startOf(record, view, 'after')
        return (stream) => streamLogToSocket(deps, stream, { id: record.id, view, from, raw: false, endOf })
      },
    }),
  ]
}

/** A reader knows its place by an id, or by how many messages it has; the one is as good as the other. */
async function cursorOf(
  counting: Counting,
  record: SessionRecord,
  { dialect, offset, after }: z.infer<typeof SocketQuery>,
): Promise<Cursor> {
  if (offset === undefined || offset === 0) return parseCursor(after, 'after') ?? START
  if (after !== undefined) {
    throw new MainstemError('invalid_request', 'offset: not together with after', { field: 'offset' })
  }
  const [last] = await counting.slice(record, dialect, { offset: offset - 1, limit: 1 })
  if (!last) throw badCursor(`there are only ${await counting.total(record, dialect)} messages`, 'offset')
  return parseCursor(last.id) ?? START
}
