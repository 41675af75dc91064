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
  /** Fires with `signal`, and when the log can no longer be written. */
  idle(): AbortSignal
  /** The log cannot be written now. */
  isUnwritable(): boolean
  /** Makes the log writable, or throws. */
  repair(): Promise<void>
  /** Reserves memory for the next read; undefined if the signal fires first. */
  room(cursor: number): Promise<Share | undefined>
  read(cursor: number): Promise<readonly T[]>
  isLast(one: T): boolean
}

/**
 * Streams a log: replays it, then follows new commits. Readers always read the log, so a slow reader costs only its
 * cursor and one page. Ends after `session.ended`, when the log is deleted, or when the signal fires. Throws after the
 * last entry of a log that cannot be written, because its readers would wait for the next one in vain.
 */
export async function* followed<T>({
  store,
  id,
  after,
  signal,
  idle,
  isUnwritable,
  repair,
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
      }
      // Woken for nothing: another server may have deleted the log.
      else if (isWoken && (await store.head(id)) < cursor) return
    } finally {
      share.release()
    }
    // Resolves at once if there is more, so no entry is missed. A read at the head would ask the database each time.
    await store.changed(id, cursor, idle())
    isWoken = true
    if (isUnwritable() && !signal.aborted && (await store.head(id)) <= cursor) await repair()
  }
}
