import { type Entry, toMainstemError } from '../../model/index.ts'
import type { ReplayOptions } from '../../reading/log-reader.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import type { RawFrames } from './projector.ts'

/** Entries that follow each other, with their raw frames if a reader asked for them. */
export interface FramedEntries {
  entries: readonly Entry[]
  frames?: RawFrames
}

type Journal = Pick<Sessions, 'replayJournal'>

interface Framing extends ReplayOptions {
  session: string
  /** Without it, entries are passed on as they are. */
  raw: boolean
}

/** Adds raw frames to pages of a log. Frames can be large, so a page is split where its frames are. */
export async function* framedEntries(
  sessions: Journal,
  { session, raw, ...options }: Framing,
  pages: AsyncIterable<readonly Entry[]>,
): AsyncGenerator<FramedEntries> {
  for await (const entries of pages) {
    if (!raw) yield { entries }
    else for (const run of risingRuns(entries)) yield* framed(sessions, session, run, options)
  }
}

async function* framed(
  sessions: Journal,
  session: string,
  entries: readonly Entry[],
  options: ReplayOptions,
): AsyncGenerator<FramedEntries> {
  const numbers = entries.flatMap(({ native }) => native ?? [])
  const [first, last] = [numbers[0], numbers.at(-1)]
  let from = 0
  if (first !== undefined && last !== undefined) {
    for await (const frames of keptFrames(sessions, session, { after: first - 1, last }, options)) {
      const end = frames.at(-1)?.frame ?? last
      const beyond = entries.findIndex(({ native = 0 }, index) => index >= from && native > end)
      const to = beyond < 0 ? entries.length : beyond
      const texts = new Map(frames.map(({ frame, text }) => [frame, text]))
      if (to > from) yield { entries: entries.slice(from, to), frames: texts }
      from = to
      if (from === entries.length) return
    }
  }
  // The journal has no frames of these entries.
  if (from < entries.length) yield { entries: entries.slice(from) }
}

/** Frames may be removed before the entries that came from them. */
async function* keptFrames(
  sessions: Journal,
  session: string,
  { after, last }: { after: number; last: number },
  options: ReplayOptions,
): ReturnType<Sessions['replayJournal']> {
  try {
    yield* sessions.replayJournal(session, after, last, options)
  } catch (thrown) {
    const { code, details } = toMainstemError(thrown)
    if (code !== 'cursor_gone') throw thrown
    yield* sessions.replayJournal(session, Number(details?.earliest) - 1, last, options)
  }
}

/** Splits entries where a frame number is lower than one before it, because the journal is read in order. */
function risingRuns(entries: readonly Entry[]): Entry[][] {
  const runs: Entry[][] = []
  let highest = Number.POSITIVE_INFINITY
  for (const entry of entries) {
    const { native = highest } = entry
    if (native < highest || runs.length === 0) runs.push([entry])
    else runs.at(-1)?.push(entry)
    highest = native
  }
  return runs
}
