import { type Entry, toMainstemError } from '../../model/index.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import type { RawFrames } from './projector.ts'

const PAGE = 512

/** Returns the raw frames of these entries, as far as the journal has them. */
export async function rawFrames(
  sessions: Pick<Sessions, 'journal'>,
  session: string,
  entries: readonly Entry[],
): Promise<RawFrames> {
  const wanted = new Set<number>()
  for (const { native } of entries) if (native !== undefined) wanted.add(native)
  const found = new Map<number, string>()
  if (wanted.size === 0) return found
  let [after, last] = [Number.POSITIVE_INFINITY, 0]
  for (const native of wanted) [after, last] = [Math.min(after, native - 1), Math.max(last, native)]
  while (after < last) {
    const frames = await keptFrames(sessions, session, after)
    for (const { frame, text } of frames) if (wanted.has(frame)) found.set(frame, text)
    after = frames.at(-1)?.frame ?? last
  }
  return found
}

/** Frames may be removed before the entries that came from them. */
async function keptFrames(
  sessions: Pick<Sessions, 'journal'>,
  session: string,
  after: number,
): ReturnType<Sessions['journal']> {
  try {
    return await sessions.journal(session, after, PAGE)
  } catch (thrown) {
    const { code, details } = toMainstemError(thrown)
    if (code !== 'cursor_gone') throw thrown
    return sessions.journal(session, Number(details?.earliest) - 1, PAGE)
  }
}
