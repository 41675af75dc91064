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
import { chunks, formatOf, NDJSON, type Shown, SSE } from '../streams/format.ts'

const EntryWithCursor = named(
  'EntryWithCursor',
  Entry.extend({ cursor: z.string().describe('`after` to go on behind this entry') }),
)

const AllEventsQuery = z.strictObject({
  after: z.string().optional().describe('the last cursor you have; `Last-Event-ID` wins over it'),
  types: EventTypes.optional(),
  ticket: z.string().optional(),
})

const CURSOR = /^([0-9a-f]{8})-(0|[1-9]\d{0,14})$/

interface Want {
  principal: string
  types: ReadonlySet<EventType> | undefined
  place: number
}

/**
 * What happens in all sessions of a principal, live. There is one order of all commits while a process lives, and a
 * cursor is a place in it; one of another process, or too far behind, is refused with `cursor_gone`, never skipped.
 */
export function allEventsEndpoint(deps: GatewayDeps): Endpoint {
  const { activity } = deps.sessions
  const process = randomUUID().slice(0, 8)
  const cursorAt = (place: number) => `${process}-${place}`
  return endpoint({
    method: 'GET',
    url: '/v1/events',
    summary: 'The events of all sessions of this token, live; with a cursor, from there',
    auth: 'ticket',
    query: AllEventsQuery,
    answers: { [SSE.type]: EntryWithCursor, [NDJSON.type]: EntryWithCursor },
    errors: ['cursor_gone', 'overloaded'],
    async run({ query, principal, request, reply }) {
      const header = request.headers['last-event-id']
      const [cursor, field] = header ? [String(header), undefined] : [query.after, 'after']
      const place = cursor === undefined ? activity.head : placeOf(cursor, process, field)
      if (place > activity.head) throw badCursor('beyond the last event', field)
      if (activity.after(place) === 'gone') throw gone()
      const format = formatOf(request.headers.accept) ?? SSE
      if (request.method === 'HEAD') return reply.type(format.type).send()
      const leave = deps.streams.enter(principal)
      try {
        reply.hijack()
        const stream = new EventStream(reply.raw, format, { 'mainstem-cursor': cursorAt(place) }, deps.timing)
        // Known from the start, so that a reader who has seen nothing yet can come back without a gap.
        if (format === SSE) await stream.write(`id: ${cursorAt(place)}\n\n`)
        const shown = merged(deps, { principal, types: query.types, place }, cursorAt, stream.signal)
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
  write: (batch: readonly Shown[]) => Iterable<string>,
  batches: AsyncIterable<readonly Shown[]>,
): Promise<void> {
  try {
    for await (const batch of batches) for (const text of write(batch)) await stream.write(text)
  } catch (thrown) {
    report(thrown)
  }
  // It has no end of its own, so whatever ended it was no end.
  stream.breakOff()
}

/** Reads the logs in the order of their commits, until the reader is gone or has fallen too far behind. */
async function* merged(
  { sessions }: GatewayDeps,
  want: Want,
  cursorAt: (place: number) => string,
  signal: AbortSignal,
): AsyncGenerator<readonly Shown[]> {
  let { place } = want
  while (!signal.aborted) {
    const commit = sessions.activity.after(place)
    if (commit === 'gone') return
    if (!commit) {
      await sessions.activity.changed(place, signal)
      continue
    }
    if (commit.principal === want.principal) yield* entriesOf(sessions, commit, place, want, cursorAt)
    place = commit.place + commit.count - 1
  }
}

async function* entriesOf(
  sessions: GatewayDeps['sessions'],
  { session, place, seq, count }: Commit,
  after: number,
  { types }: Want,
  cursorAt: (place: number) => string,
): AsyncGenerator<readonly Shown[]> {
  const skipped = after + 1 - place
  for await (const entries of replayKept(sessions, session, seq - 1 + skipped, seq - 1 + count)) {
    const shown: Shown[] = []
    for (const entry of entries) {
      if (types && !types.has(entry.event.type)) continue
      const id = cursorAt(place + entry.seq - seq)
      shown.push({ id, message: { ...entry, cursor: id } })
    }
    yield shown
  }
}

/** What was removed or dropped meanwhile cannot be shown any more. */
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

function placeOf(cursor: string, process: string, field: string | undefined): number {
  const match = CURSOR.exec(cursor)
  if (!match) throw badCursor('not a cursor that this server gave', field)
  if (match[1] !== process) throw gone()
  return Number(match[2])
}

function gone(): MainstemError {
  return new MainstemError(
    'cursor_gone',
    'what followed this cursor is not remembered; read the sessions again',
  )
}
