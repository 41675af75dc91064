import * as z from 'zod'
import { ROOM_WAIT_MS } from '../../reading/log-reader.ts'
import { ownedSession, SessionPath } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'
import { integer } from '../http/query.ts'
import { PAGE_BYTES, PageRoom } from '../streams/page-room.ts'

/** A frame of the journal, in one order for both directions. */
export const RawFrameJson = named(
  'RawFrame',
  z.strictObject({
    frame: z.int().positive().describe('its number; `native` of an entry is the frame that it came from'),
    stream: z
      .string()
      .describe(
        '`sent` for what was written to the agent, `read` for how far its output was decoded; any other stream is output of the agent',
      ),
    text: z
      .string()
      .describe(
        'the native text; for `sent`, JSON with the `command` and the `writes` that it became, or `start`',
      ),
  }),
)
type RawFrameJson = z.infer<typeof RawFrameJson>

const FramesQuery = z.strictObject({
  after: integer(0, 999_999_999).optional().describe('the last frame you have'),
  limit: integer(1, 1000).optional().describe('frames per page; default 100'),
})

const FramePage = named(
  'FramePage',
  z.strictObject({
    frames: z.array(RawFrameJson),
    next: z.int().nonnegative().describe('pass it as `after` to get the next page'),
  }),
)

/** The journal of a session in pages: what its agent wrote, and what was written to it. */
export function framesEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/sessions/:id/frames',
    summary: 'Read the raw frames of a session: what the agent wrote, and what was written to it',
    params: SessionPath,
    query: FramesQuery,
    answer: FramePage,
    errors: ['session_not_found', 'cursor_gone', 'overloaded'],
    async run({ params: { id }, query, principal, reply }) {
      const { frames: last, earliestFrame = 1 } = await ownedSession(deps, principal, id)
      const { after = earliestFrame - 1, limit = 100 } = query
      const room = await PageRoom.enter(deps, reply)
      const options = { signal: room.signal, waitMs: ROOM_WAIT_MS }
      const frames = await firstOf(deps.sessions.replayJournal(id, after, last, options), limit, room)
      room.complete()
      return { frames, next: frames.at(-1)?.frame ?? after }
    },
  })
}

async function firstOf(
  pieces: AsyncGenerator<readonly RawFrameJson[]>,
  limit: number,
  room: PageRoom,
): Promise<RawFrameJson[]> {
  const frames: RawFrameJson[] = []
  let bytes = 0
  for (;;) {
    const { value: piece, done } = await pieces.next()
    if (done) return frames
    for (const frame of piece) {
      frames.push(frame)
      bytes += frame.text.length
      if (frames.length < limit && bytes < PAGE_BYTES) continue
      room.keep(pieces)
      return frames
    }
  }
}
