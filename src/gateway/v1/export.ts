import { createHash } from 'node:crypto'
import { withoutSecrets } from '../../mask/secrets.ts'
import { blobsOf } from '../../model/entry-blobs.ts'
import { type BlobRef, type Entry, MainstemError, type SessionRecord } from '../../model/index.ts'
import { ownedSession, SessionPath } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { EventStream } from '../streams/event-stream.ts'
import { NDJSON } from '../streams/format.ts'
import { ExportLineJson, inOrder } from './export-line.ts'

/** Exports a session, one JSON object per line. Without its last line an export is incomplete. */
export function exportEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/sessions/:id/export',
    summary: 'Export a session: its record, its entries with their blobs, and its raw frames',
    params: SessionPath,
    answers: { [NDJSON.type]: ExportLineJson },
    errors: ['session_not_found', 'overloaded'],
    async run({ params: { id }, principal, actor, request, reply }) {
      const record = await ownedSession(deps, principal, id)
      const headers = { 'content-disposition': `attachment; filename="${id}.ndjson"` }
      if (request.method === 'HEAD') return reply.type(NDJSON.type).headers(headers).send()
      const leave = deps.streams.enter(principal)
      try {
        // Before the first byte: what was read must not be missing from the trail.
        await deps.sessions.audit.note('session.exported', actor, { session: id })
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
    for await (const text of textOf(linesOf(deps, record, stream.signal))) {
      await stream.write(text)
      if (stream.signal.aborted) return
    }
    stream.end()
  } catch (thrown) {
    deps.report(thrown)
    // The end line marks the export as complete, so it is omitted here.
    stream.breakOff()
  }
}

/** Characters per write. */
const CHUNK = 64 * 1024

type Counts = Pick<Extract<ExportLineJson, { end: object }>['end'], 'entries' | 'frames'>
type Line = Exclude<ExportLineJson, { end: object }> | { end: Counts }

/** The text of the lines, with their checksum in the last. */
async function* textOf(lists: AsyncIterable<readonly Line[]>): AsyncGenerator<string> {
  const hash = createHash('sha256')
  for await (const lines of lists) {
    let chunk = ''
    for (const line of lines) {
      const isEnd = 'end' in line
      const message = isEnd ? { end: { ...line.end, sha256: hash.digest('hex') } } : line
      const text = NDJSON.write({ id: '', message })
      if (!isEnd) hash.update(text)
      chunk += text
      if (chunk.length < CHUNK) continue
      yield chunk
      chunk = ''
    }
    if (chunk !== '') yield chunk
  }
}

async function* linesOf(
  { sessions }: GatewayDeps,
  record: SessionRecord,
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  const { id, head, frames: lastFrame, earliest = 1, earliestFrame = 1 } = record
  const { failure: _, ...stored } = record
  yield [{ record: inOrder(withoutSecrets(stored)) }]
  const sent = new Set<string>()
  let last = earliest - 1
  for await (const entries of sessions.replay(id, last, head, { signal })) {
    yield* withBlobs(entries, sent, sessions)
    last = entries.at(-1)?.seq ?? last
  }
  if (last < head && !signal.aborted)
    throw new MainstemError('session_not_found', 'the session was removed during its export')
  let count = 0
  for await (const frames of sessions.replayJournal(id, earliestFrame - 1, lastFrame, { signal })) {
    yield frames.map((frame) => ({ frame }))
    count += frames.length
  }
  yield [{ end: { entries: head - earliest + 1, frames: count } }]
}

/** Entries, each after the blobs that it is the first to refer to. */
async function* withBlobs(
  entries: readonly Entry[],
  sent: Set<string>,
  sessions: GatewayDeps['sessions'],
): AsyncGenerator<readonly Line[]> {
  let lines: Line[] = []
  for (const entry of entries) {
    for (const ref of blobsOf(entry)) {
      if (sent.has(ref.id)) continue
      sent.add(ref.id)
      yield lines
      lines = []
      yield* blobLines(ref, sessions)
    }
    lines.push({ entry })
  }
  yield lines
}

/** An empty blob has one line. */
async function* blobLines(
  { id, bytes }: BlobRef,
  sessions: GatewayDeps['sessions'],
): AsyncGenerator<readonly Line[]> {
  let at = 0
  for await (const piece of sessions.blob({ id, bytes })) {
    const data = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('base64')
    yield [{ blob: { id, bytes, at, data } }]
    at += piece.length
  }
  if (bytes === 0) yield [{ blob: { id, bytes, at, data: '' } }]
}
