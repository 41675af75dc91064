import { Readable } from 'node:stream'
import { z } from 'zod'
import { Entry, MainstemError, SessionRecord } from '../../model/index.ts'
import { ownedSession, SessionPath, shown } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from '../http/components.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { NDJSON } from '../streams/format.ts'

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

const PAGE = 512

/** All there is of a session, one JSON object a line. Without its last line it is not whole. */
export function exportEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/sessions/:id/export',
    summary: 'All there is of a session: its record, its entries, its raw frames',
    params: SessionPath,
    answers: { [NDJSON.type]: ExportLine },
    errors: ['session_not_found', 'overloaded'],
    async run({ params: { id }, principal, request, reply }) {
      const record = await ownedSession(deps, principal, id)
      reply.type(NDJSON.type).header('content-disposition', `attachment; filename="${id}.ndjson"`)
      if (request.method === 'HEAD') return reply.send()
      const leave = deps.streams.enter(principal)
      reply.raw.once('close', leave)
      return reply.send(Readable.from(textOf(deps, record)))
    },
  })
}

/** A page of lines at a time, and only as fast as they are taken. */
async function* textOf(deps: GatewayDeps, record: SessionRecord): AsyncGenerator<string> {
  for await (const lines of linesOf(deps, record)) {
    yield lines.map((message) => NDJSON.write({ id: '', message })).join('')
  }
}

async function* linesOf({ sessions }: GatewayDeps, record: SessionRecord): AsyncGenerator<ExportLine[]> {
  const { id, head, frames: lastFrame, earliest = 1, earliestFrame = 1 } = record
  yield [{ record: shown(record) }]
  for (let after = earliest - 1; after < head; ) {
    const entries = await sessions.read(id, after, Math.min(PAGE, head - after))
    const last = entries.at(-1)
    // Breaks the download off: an export with an end line claims to be complete.
    if (!last) throw new MainstemError('session_not_found', 'the session was removed during its export')
    yield entries.map((entry) => ({ entry }))
    after = last.seq
  }
  let count = 0
  for (let after = earliestFrame - 1; after < lastFrame; ) {
    const found = await sessions.journal(id, after, PAGE)
    const kept = found.filter(({ frame }) => frame <= lastFrame)
    count += kept.length
    yield kept.map((frame) => ({ frame }))
    after = found.at(-1)?.frame ?? lastFrame
  }
  yield [{ end: { entries: head - earliest + 1, frames: count } }]
}
