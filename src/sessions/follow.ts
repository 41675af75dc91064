import type { Entry } from '../model/index.ts'
import type { Store } from '../stores/store.ts'
import type { Share } from './byte-budget.ts'

/** Whether this is the last entry of a log. The substring check avoids parsing almost every text. */
export function isEndText(text: string): boolean {
  return text.includes('"session.ended"') && isEnd(JSON.parse(text))
}

export function isEnd({ event }: Entry): boolean {
  return event.type === 'session.ended'
}

interface Followed<T> {
  store: Pick<Store, 'changed' | 'head'>
  id: string
  after: number
  signal: AbortSignal
  /** Reserves memory for the next read; undefined if the signal fires first. */
  room(cursor: number): Promise<Share | undefined>
  read(cursor: number): Promise<readonly T[]>
  isLast(one: T): boolean
}

/**
 * Streams a log: replays it, then follows new commits. Readers always read the log, so a slow reader costs only its
 * cursor and one page. Ends after `session.ended`, when the log is deleted, or when the signal fires.
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
  let isWoken = false
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
        isWoken = false
        continue
      }
      // Woken for nothing: another server may have deleted the log.
      if (isWoken && (await store.head(id)) < cursor) return
    } finally {
      share.release()
    }
    // Resolves at once if something was appended since the read, so no entry is missed.
    await store.changed(id, cursor, signal)
    isWoken = true
  }
}
