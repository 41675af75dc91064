import { isEndText } from '../../reading/follow.ts'
import type { GatewayDeps } from '../deps.ts'
import { problemFrom } from '../http/problem.ts'
import { answeredWith } from '../http/request-scope.ts'
import type { EventStream } from './event-stream.ts'
import { chunks, type StreamFormat, verbatim } from './format.ts'
import { framedEntries } from './framed-entries.ts'
import type { Projector } from './projector.ts'

export interface StreamSource {
  session: string
  /** The last entry that the projection does not need. */
  from: number
  projector: Projector
  format: StreamFormat
  raw: boolean
}

/** A chunk of the stream, and whether it is the last. */
interface Piece {
  chunks: Iterable<string | Uint8Array>
  isLast(): boolean
  /** The time of its last entry. */
  at: number | undefined
}

type Source = Pick<GatewayDeps, 'sessions'>

/** Sends the log of a session, replayed and then live, until the dialect is finished. */
export async function streamLog(
  { sessions, report, stats }: Pick<GatewayDeps, 'sessions' | 'report' | 'stats'>,
  stream: EventStream,
  source: StreamSource,
): Promise<void> {
  const read = source.projector.isVerbatim ? storedEntries : projected
  const delivered = stats.delivery()
  let isOver = false
  try {
    for await (const { chunks, isLast, at } of read({ sessions }, source, stream.signal)) {
      for (const chunk of chunks) await stream.write(chunk)
      delivered(at)
      isOver = isLast()
      if (isOver || stream.signal.aborted) break
    }
    // A log that was deleted while it was read has no end and must not appear complete.
    if (isOver) stream.end()
    else stream.breakOff()
  } catch (thrown) {
    report(thrown)
    const problem = answeredWith(problemFrom(thrown))
    if (!problem.unwritable) return stream.breakOff()
    await stream.write(source.format.failure(problem))
    stream.end()
  }
}

async function* projected(
  { sessions }: Source,
  { session, from, projector, format, raw }: StreamSource,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  const pages = sessions.follow(session, from, signal, projector.types)
  for await (const { entries, frames } of framedEntries(sessions, { session, raw, signal }, pages)) {
    yield {
      at: entries.at(-1)?.at,
      chunks: chunks(format, projector.project(entries, frames)),
      isLast: () => projector.finished || entries.at(-1)?.event.type === 'session.ended',
    }
  }
}

/** Sends the stored text of the log without parsing it. */
async function* storedEntries(
  { sessions }: Source,
  { session, from, format }: StreamSource,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  let seq = from
  for await (const texts of sessions.followTexts(session, from, signal)) {
    const last = texts.at(-1) ?? ''
    yield { chunks: verbatim(format, seq + 1, texts), isLast: () => isEndText(last), at: timeOf(last) }
    seq += texts.length
  }
}

/** The time of an entry, without parsing all of it: only numbers and ids come before. */
export function timeOf(text: string): number | undefined {
  const [, at] = /^[^{]*{[^{]*?"at":(\d+)/.exec(text) ?? []
  return at === undefined ? undefined : Number(at)
}
