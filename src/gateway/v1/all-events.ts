import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { Entry, type EventType, MainstemError, toMainstemError } from '../../model/index.ts'
import { type Feed, type FeedCommit, localFeed } from '../../reading/feed.ts'
import { readableBy } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'
import { badCursor } from '../streams/cursor.ts'
import { EventStream } from '../streams/event-stream.ts'
import { EventTypes } from '../streams/event-types.ts'
import { chunks, formatOf, NDJSON, SSE, type StreamMessage } from '../streams/format.ts'
import { NoticesFlag, streamNotices } from '../streams/notices.ts'

const EntryWithCursor = named(
  'EntryWithCursor',
  Entry.extend({ cursor: z.string().describe('pass it as `after` to continue after this entry') }),
)

const AllEventsQuery = z.strictObject({
  after: z.string().optional().describe('the last cursor you received; `Last-Event-ID` takes precedence'),
  types: EventTypes.optional(),
  notices: NoticesFlag,
  ticket: z.string().optional(),
})

const CURSOR = /^([0-9a-f]{8})-((?:0|[1-9]\d{0,14})(?:\.\d{1,15}){0,2})$/

interface Want {
  principal: string
  types: ReadonlySet<EventType> | undefined
  position: string
}

/**
 * Streams the events of all sessions that a principal may read, live. Commits have one order: that of the store where several
 * servers share it, otherwise that of this process. A cursor is a position in it; a cursor of another order, or too far
 * behind, is rejected with `cursor_gone`, never skipped.
 */
export function allEventsEndpoint(deps: GatewayDeps): Endpoint {
  const feed = deps.cluster.feed ?? localFeed(deps.sessions.activity, randomUUID().slice(0, 8))
  return endpoint({
    method: 'GET',
    url: '/v1/events',
    summary:
      'Stream the events of all sessions of this token, and of those that it has grants for, live or from a cursor',
    auth: 'ticket',
    query: AllEventsQuery,
    answers: { [SSE.type]: EntryWithCursor, [NDJSON.type]: EntryWithCursor },
    errors: ['cursor_gone', 'overloaded'],
    async run({ query, principal, request, reply }) {
      const header = request.headers['last-event-id']
      const [cursor, field] = header ? [String(header), undefined] : [query.after, 'after']
      const epoch = await feed.epoch()
      const position = cursor === undefined ? await feed.head() : positionOf(cursor, epoch, field)
      if (await feed.isBeyondHead(position)) throw badCursor('beyond the last event', field)
      if ((await feed.after(position)) === 'gone') throw gone()
      const format = formatOf(request.headers.accept) ?? SSE
      if (request.method === 'HEAD') return reply.type(format.type).send()
      const leave = deps.streams.enter(principal)
      try {
        reply.hijack()
        const notices = streamNotices(deps.storage, format, query.notices)
        const cursorAt = (at: string) => `${epoch}-${at}`
        const headers = { 'mainstem-cursor': cursorAt(position) }
        const stream = new EventStream(reply.raw, format, headers, deps.timing, notices)
        // Sent first, so that a client without any event yet can resume without a gap.
        if (format === SSE) await stream.write(`id: ${cursorAt(position)}\n\n`)
        const want = { principal, types: query.types, position }
        const shown = merged(deps, feed, want, cursorAt, stream.signal)
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
  deps: GatewayDeps,
  feed: Feed,
  { principal, types, position: from }: Want,
  cursorAt: (position: string) => string,
  signal: AbortSignal,
): AsyncGenerator<readonly StreamMessage[]> {
  let position = from
  while (!signal.aborted) {
    const commits = await feed.after(position, { principal, types })
    if (commits === 'gone') return
    if (commits.length === 0) await feed.changed(position, signal)
    for (const commit of commits) {
      if (signal.aborted) return
      // Asked for each commit: a grant counts from its addition until its removal.
      const isReadable =
        commit.principal === principal || (await readableBy(deps, principal)).has(commit.principal)
      if (isReadable) yield* entriesOf(deps.sessions, commit, types, cursorAt)
      position = commit.positionOf(commit.last)
    }
  }
}

async function* entriesOf(
  sessions: GatewayDeps['sessions'],
  { session, after, last, positionOf }: FeedCommit,
  types: Want['types'],
  cursorAt: (position: string) => string,
): AsyncGenerator<readonly StreamMessage[]> {
  for await (const entries of replayKept(sessions, session, after, last)) {
    const shown: StreamMessage[] = []
    for (const entry of entries) {
      if (types && !types.has(entry.event.type)) continue
      const id = cursorAt(positionOf(entry.seq))
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

function positionOf(cursor: string, epoch: string, field: string | undefined): string {
  const [, of, position = ''] = CURSOR.exec(cursor) ?? []
  if (of === undefined) throw badCursor('not a cursor of this server', field)
  if (of !== epoch) throw gone()
  return position
}

function gone(): MainstemError {
  return new MainstemError(
    'cursor_gone',
    'the events after this cursor are no longer buffered; read the sessions again',
  )
}
