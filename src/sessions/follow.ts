import type { Entry } from '../model/index.ts'
import type { Store } from '../stores/store.ts'

const BATCH = 512

/**
 * Replay, then live, as one stream of committed batches: readers always read the log, so a slow one costs
 * nothing but its own cursor. Ends after `session.ended`, or when the signal fires.
 */
export function follow(
  store: Store,
  session: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly Entry[]> {
  const read = (cursor: number) => store.read(session, cursor, BATCH)
  return followed(store, session, after, signal, read, isEnd)
}

/** The same, each entry as the JSON that is kept of it. */
export function followTexts(
  store: Store,
  session: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const read = (cursor: number) => store.readTexts(session, cursor)
  return followed(store, session, after, signal, read, isEndText)
}

/** Whether this is the last entry of a log. Most texts show that they are not. */
export function isEndText(text: string): boolean {
  return text.includes('"session.ended"') && isEnd(JSON.parse(text))
}

function isEnd({ event }: Entry): boolean {
  return event.type === 'session.ended'
}

async function* followed<T>(
  store: Store,
  session: string,
  after: number,
  signal: AbortSignal,
  read: (cursor: number) => Promise<readonly T[]>,
  isLast: (one: T) => boolean,
): AsyncGenerator<readonly T[]> {
  let cursor = after
  while (!signal.aborted) {
    const found = await read(cursor)
    const last = found.at(-1)
    if (last === undefined) {
      // Settles at once when something was appended since the read, so nothing can be missed in between.
      await store.changed(session, cursor, signal)
      continue
    }
    yield found
    cursor += found.length
    if (isLast(last)) return
  }
}
