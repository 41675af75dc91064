import { z } from 'zod'
import { Entry, MainstemError, SessionRecord } from '../../model/index.ts'
import { withoutSecrets } from '../../sessions/without-secrets.ts'
import { ownedSession, SessionPath } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from '../http/components.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { EventStream } from '../streams/event-stream.ts'
import { chunks, NDJSON, type StreamMessage } from '../streams/format.ts'

const ExportLine = named(
  'ExportLine',
  z.union([
    z.strictObject({ record: SessionRecord }),
    z.strictObject({ entry: Entry }),
    z.strictObject({
      frame: z.strictObject({ frame: z.int().positive(), stream: z.string(), text: z.string() }),
    }),
    z.strictObject({ end: z.strictObject({ entries: z.int(), frames: z.int() }) }),
  ]),
)
type ExportLine = z.infer<typeof ExportLine>

/** Exports a session, one JSON object per line. Without its last line an export is incomplete. */
export function exportEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/sessions/:id/export',
    summary: 'Export a session: its record, its entries and its raw frames',
    params: SessionPath,
    answers: { [NDJSON.type]: ExportLine },
    errors: ['session_not_found', 'overloaded'],
    async run({ params: { id }, principal, request, reply }) {
      const record = await ownedSession(deps, principal, id)
      const headers = { 'content-disposition': `attachment; filename="${id}.ndjson"` }
      if (request.method === 'HEAD') return reply.type(NDJSON.type).headers(headers).send()
      const leave = deps.streams.enter(principal)
      try {
        reply.hijack()
        await send(deps, record, new EventStream(reply.raw, NDJSON, headers, deps.timing))
      } finally {
        leave()
      }
    },
  })
}

/** Sends the log in segments, with backpressure. */
async function send(deps: GatewayDeps, record: SessionRecord, stream: EventStream): Promise<void> {
  try {
    for await (const lines of linesOf(deps, record, stream.signal)) {
      for (const text of chunks(NDJSON, lines)) await stream.write(text)
      if (stream.signal.aborted) return
    }
    stream.end()
  } catch (thrown) {
    deps.report(thrown)
    // The end line marks the export as complete, so it is omitted here.
    stream.breakOff()
  }
}

async function* linesOf(
  { sessions }: GatewayDeps,
  record: SessionRecord,
  signal: AbortSignal,
): AsyncGenerator<readonly StreamMessage[]> {
  const { id, head, frames: lastFrame, earliest = 1, earliestFrame = 1 } = record
  yield [line({ record: withoutSecrets(record) })]
  let last = earliest - 1
  for await (const entries of sessions.replay(id, last, head, { signal })) {
    yield entries.map((entry) => line({ entry }))
    last = entries.at(-1)?.seq ?? last
  }
  if (last < head && !signal.aborted)
    throw new MainstemError('session_not_found', 'the session was removed during its export')
  let count = 0
  for await (const frames of sessions.replayJournal(id, earliestFrame - 1, lastFrame, signal)) {
    yield frames.map((frame) => line({ frame }))
    count += frames.length
  }
  yield [line({ end: { entries: head - earliest + 1, frames: count } })]
}

function line(message: ExportLine): StreamMessage {
  return { id: '', message }
}
