import type { Entry } from '../model/index.ts'
import type { Store } from '../stores/store.ts'
import type { Share } from './byte-budget.ts'

/** Whether this is the last entry of a log. Most texts show that they are not. */
export function isEndText(text: string): boolean {
  return text.includes('"session.ended"') && isEnd(JSON.parse(text))
}

export function isEnd({ event }: Entry): boolean {
  return event.type === 'session.ended'
}

interface Followed<T> {
  store: Pick<Store, 'changed'>
  id: string
  after: number
  signal: AbortSignal
  /** Waits for room in memory for what follows a cursor; undefined once the signal has fired. */
  room(cursor: number): Promise<Share | undefined>
  read(cursor: number): Promise<readonly T[]>
  isLast(one: T): boolean
}

/**
 * Replay, then live, as one stream of committed batches: readers always read the log, so a slow one costs
 * nothing but its own cursor and one piece. Ends after `session.ended`, or when the signal fires.
 */
export async function* followed<T>({
  store,
  id,
  after,
  signal,
  room,
  read,
  isLast,
}: Followed<T>): AsyncGenerator<readonly T[]> {
  let cursor = after
  while (!signal.aborted) {
    const share = await room(cursor)
    if (!share) return
    try {
      const found = await read(cursor)
      const last = found.at(-1)
      if (last !== undefined) {
        yield found
        cursor += found.length
        if (isLast(last)) return
        continue
      }
    } finally {
      share.release()
    }
    // Settles at once when something was appended since the read, so nothing can be missed in between.
    await store.changed(id, cursor, signal)
  }
}
