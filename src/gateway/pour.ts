import type { EventStream } from './event-stream.ts'
import { chunks, type StreamFormat } from './format.ts'
import type { GatewayParts } from './parts.ts'
import type { Projector } from './projector.ts'
import { rawFrames } from './raw-frames.ts'

export interface Pouring {
  session: string
  /** The last entry that the projection does not need. */
  from: number
  projector: Projector
  format: StreamFormat
  raw: boolean
}

/** Sends the log of a session, replayed and then live, until the dialect has said its last. */
export async function pour(
  { sessions, report }: Pick<GatewayParts, 'sessions' | 'report'>,
  stream: EventStream,
  { session, from, projector, format, raw }: Pouring,
): Promise<void> {
  let isOver = false
  try {
    for await (const entries of sessions.follow(session, from, stream.signal)) {
      const frames = raw ? await rawFrames(sessions, session, entries) : undefined
      for (const text of chunks(format, projector.project(entries, frames))) await stream.write(text)
      isOver = projector.finished || entries.at(-1)?.event.type === 'session.ended'
      if (isOver || stream.signal.aborted) break
    }
    // A log that was deleted under its reader has no end, and must not look as if it had.
    if (isOver) stream.end()
    else stream.breakOff()
  } catch (thrown) {
    report(thrown)
    stream.breakOff()
  }
}
