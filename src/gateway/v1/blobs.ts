import { Readable } from 'node:stream'
import * as z from 'zod'
import { blobsOf } from '../../model/entry-blobs.ts'
import { type BlobRef, MainstemError, type SessionRecord } from '../../model/index.ts'
import type { ByteRange } from '../../model/text/byte-range.ts'
import { readableSession } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { latestFirst } from '../streams/latest-first.ts'

const RANGE = /^bytes=(\d*)-(\d*)$/

/**
 * Parses a `Range` header with one range. Returns undefined for anything else, which a server answers with the whole
 * content.
 */
function byteRange(header: string | undefined, bytes: number): ByteRange | undefined {
  const [, from = '', to = ''] = RANGE.exec(header ?? '') ?? []
  if (from === '' && to === '') return undefined
  const start = from === '' ? Math.max(0, bytes - Number(to)) : Number(from)
  const end = from === '' || to === '' ? bytes : Math.min(bytes, Number(to) + 1)
  return start < end ? { start, end } : undefined
}

const BlobPath = z.strictObject({ session: z.string(), id: z.string().min(1).max(128) })

const BYTES = 'application/octet-stream'

/** Bytes that were too large for an event. */
export function blobEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/blobs/:session/:id',
    summary: 'Get the bytes that an event of a session refers to; accepts a `Range` header with one range',
    params: BlobPath,
    answers: { [BYTES]: z.unknown() },
    errors: ['session_not_found', 'not_found'],
    async run({ params, request, reply }) {
      const record = await readableSession(deps, request, params.session)
      const ref = await refIn(deps, record, params.id)
      const range = byteRange(request.headers.range, ref.bytes)
      const { start, end } = range ?? { start: 0, end: ref.bytes }
      const pieces = await begun(deps.sessions.blob(ref, { start, end }))
      // The content comes from an agent: browsers must not render it as a page.
      reply.headers({ 'content-disposition': 'attachment', 'x-content-type-options': 'nosniff' })
      reply.headers({ 'accept-ranges': 'bytes', 'content-length': end - start })
      if (range) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${ref.bytes}`)
      reply.raw.setTimeout(deps.timing.stallMs)
      return reply.type(BYTES).send(Readable.from(pieces, { objectMode: false }))
    },
  })
}

/** Reads the first piece, so that a blob that cannot be read is refused before the response has begun. */
async function begun(pieces: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const iterator = pieces[Symbol.asyncIterator]()
  const first = await iterator.next()
  return (async function* () {
    try {
      for (let next = first; !next.done; next = await iterator.next()) yield next.value
    } finally {
      await iterator.return?.()
    }
  })()
}

/** Only blobs that the session's own log refers to: the store keeps the blobs of all principals together. */
async function refIn({ sessions }: GatewayDeps, record: SessionRecord, blobId: string): Promise<BlobRef> {
  for await (const entry of latestFirst(sessions, record)) {
    const found = blobsOf(entry).find(({ id }) => id === blobId)
    if (found) return found
  }
  throw new MainstemError('not_found', 'no such blob in this session')
}
