import { isEndText } from '../../sessions/follow.ts'
import type { GatewayDeps } from '../deps.ts'
import type { EventStream } from './event-stream.ts'
import { chunks, type StreamFormat, verbatim } from './format.ts'
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

/** What is sent together, and whether it is the end. */
interface Piece {
  chunks: Iterable<string | Uint8Array>
  isLast(): boolean
}

type Source = Pick<GatewayDeps, 'sessions'>

/** Sends the log of a session, replayed and then live, until the dialect has said its last. */
export async function streamLog(
  { sessions, report }: Pick<GatewayDeps, 'sessions' | 'report'>,
  stream: EventStream,
  pouring: Pouring,
): Promise<void> {
  const read = pouring.projector.isVerbatim ? entriesThemselves : projected
  let isOver = false
  try {
    for await (const { chunks, isLast } of read({ sessions }, pouring, stream.signal)) {
      for (const chunk of chunks) await stream.write(chunk)
      isOver = isLast()
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

async function* projected(
  { sessions }: Source,
  { session, from, projector, format, raw }: Pouring,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  for await (const entries of sessions.follow(session, from, signal)) {
    const frames = raw ? await rawFrames(sessions, session, entries) : undefined
    yield {
      chunks: chunks(format, projector.project(entries, frames)),
      isLast: () => projector.finished || entries.at(-1)?.event.type === 'session.ended',
    }
  }
}

/** Nothing is parsed and nothing is written again: the log has the text that is sent. */
async function* entriesThemselves(
  { sessions }: Source,
  { session, from, format }: Pouring,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  let seq = from
  for await (const texts of sessions.followTexts(session, from, signal)) {
    yield { chunks: verbatim(format, seq + 1, texts), isLast: () => isEndText(texts.at(-1) ?? '') }
    seq += texts.length
  }
}
