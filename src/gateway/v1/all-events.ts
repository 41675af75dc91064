import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Entry, type EventType, MainstemError, toMainstemError } from '../../model/index.ts'
import type { Commit } from '../../sessions/commit-feed.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from '../http/components.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { badCursor } from '../streams/cursor.ts'
import { EventStream } from '../streams/event-stream.ts'
import { EventTypes } from '../streams/event-types.ts'
import { chunks, formatOf, NDJSON, SSE, type StreamMessage } from '../streams/format.ts'

const EntryWithCursor = named(
  'EntryWithCursor',
  Entry.extend({ cursor: z.string().describe('pass it as `after` to continue after this entry') }),
)

const AllEventsQuery = z.strictObject({
  after: z.string().optional().describe('the last cursor you received; `Last-Event-ID` takes precedence'),
  types: EventTypes.optional(),
  ticket: z.string().optional(),
})

const CURSOR = /^([0-9a-f]{8})-(0|[1-9]\d{0,14})$/

interface Want {
  principal: string
  types: ReadonlySet<EventType> | undefined
  position: number
}

/**
 * Streams the events of all sessions of a principal, live. Commits have one order while a process lives, and a cursor
 * is a position in it; a cursor of another process, or too far behind, is rejected with `cursor_gone`, never skipped.
 */
export function allEventsEndpoint(deps: GatewayDeps): Endpoint {
  const { activity } = deps.sessions
  const process = randomUUID().slice(0, 8)
  const cursorAt = (position: number) => `${process}-${position}`
  return endpoint({
    method: 'GET',
    url: '/v1/events',
    summary: 'Stream the events of all sessions of this token, live or from a cursor',
    auth: 'ticket',
    query: AllEventsQuery,
    answers: { [SSE.type]: EntryWithCursor, [NDJSON.type]: EntryWithCursor },
    errors: ['cursor_gone', 'overloaded'],
    async run({ query, principal, request, reply }) {
      const header = request.headers['last-event-id']
      const [cursor, field] = header ? [String(header), undefined] : [query.after, 'after']
      const position = cursor === undefined ? activity.head : positionOf(cursor, process, field)
      if (position > activity.head) throw badCursor('beyond the last event', field)
      if (activity.after(position) === 'gone') throw gone()
      const format = formatOf(request.headers.accept) ?? SSE
      if (request.method === 'HEAD') return reply.type(format.type).send()
      const leave = deps.streams.enter(principal)
      try {
        reply.hijack()
        const stream = new EventStream(
          reply.raw,
          format,
          { 'mainstem-cursor': cursorAt(position) },
          deps.timing,
        )
        // Sent first, so that a client without any event yet can resume without a gap.
        if (format === SSE) await stream.write(`id: ${cursorAt(position)}\n\n`)
        const shown = merged(deps, { principal, types: query.types, position }, cursorAt, stream.signal)
        await send(deps, stream, (batch) => chunks(format, batch), shown)
      } finally {
        leave()
      }
    },
  })
}

async function send(
  { report }: GatewayDeps,
  stream: EventStream,
  write: (batch: readonly StreamMessage[]) => Iterable<string>,
  batches: AsyncIterable<readonly StreamMessage[]>,
): Promise<void> {
  try {
    for await (const batch of batches) for (const text of write(batch)) await stream.write(text)
  } catch (thrown) {
    report(thrown)
  }
  // The stream has no regular end, so every end is an interruption.
  stream.breakOff()
}

/** Reads the logs in the order of their commits, until the client disconnects or falls too far behind. */
async function* merged(
  { sessions }: GatewayDeps,
  want: Want,
  cursorAt: (position: number) => string,
  signal: AbortSignal,
): AsyncGenerator<readonly StreamMessage[]> {
  let { position } = want
  while (!signal.aborted) {
    const commit = sessions.activity.after(position)
    if (commit === 'gone') return
    if (!commit) {
      await sessions.activity.changed(position, signal)
      continue
    }
    if (commit.principal === want.principal) yield* entriesOf(sessions, commit, position, want, cursorAt)
    position = commit.position + commit.count - 1
  }
}

async function* entriesOf(
  sessions: GatewayDeps['sessions'],
  { session, position, seq, count }: Commit,
  after: number,
  { types }: Want,
  cursorAt: (position: number) => string,
): AsyncGenerator<readonly StreamMessage[]> {
  const skipped = after + 1 - position
  for await (const entries of replayKept(sessions, session, seq - 1 + skipped, seq - 1 + count)) {
    const shown: StreamMessage[] = []
    for (const entry of entries) {
      if (types && !types.has(entry.event.type)) continue
      const id = cursorAt(position + entry.seq - seq)
      shown.push({ id, message: { ...entry, cursor: id } })
    }
    yield shown
  }
}

/** Skips entries that were removed in the meantime. */
async function* replayKept(
  sessions: GatewayDeps['sessions'],
  session: string,
  after: number,
  last: number,
): AsyncGenerator<readonly Entry[]> {
  try {
    yield* sessions.replay(session, after, last)
  } catch (thrown) {
    if (toMainstemError(thrown).code !== 'cursor_gone') throw thrown
  }
}

function positionOf(cursor: string, process: string, field: string | undefined): number {
  const match = CURSOR.exec(cursor)
  if (!match) throw badCursor('not a cursor of this server', field)
  if (match[1] !== process) throw gone()
  return Number(match[2])
}

function gone(): MainstemError {
  return new MainstemError(
    'cursor_gone',
    'the events after this cursor are no longer buffered; read the sessions again',
  )
}
