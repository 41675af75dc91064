import { setImmediate as nextPoll } from 'node:timers/promises'
import type { Key } from './key-reader.ts'
import { GAP_MS, type Keyboard } from './keyboard.ts'

/** How long a request is on the screen, without a key, before keys count. */
const QUIET_MS = 400

/** So many equal keys, each within the gap after the one before, are a key that is held down. A double tap has two. */
const HELD_KEYS = 3

/** What a person did. */
export type Press =
  | { type: 'key'; key: string }
  /** Several keys at once, a key that is held down, or pasted text. */
  | { type: 'burst' }
  /** The request has to be drawn again. */
  | { type: 'redraw' }
  /** The request is closed. */
  | { type: 'over' }

/**
 * Waits until no key was pressed for a while. Call it after a request is drawn: a person who is still typing, or holds
 * a key down since before, has not read it.
 */
export async function quiet(keyboard: Keyboard, signal: AbortSignal): Promise<'quiet' | 'redraw' | 'over'> {
  for (;;) {
    let heard: 'keys' | 'redraw' | undefined
    const interrupted = new AbortController()
    const hear = (what: 'keys' | 'redraw') => {
      heard = what
      interrupted.abort()
    }
    using _ = keyboard.listen({ keys: () => hear('keys'), redraw: () => hear('redraw') })
    const over = AbortSignal.any([signal, interrupted.signal])
    await Promise.all([pause(keyboard, QUIET_MS, over), keyboard.rested(over)])
    if (!over.aborted) await nextPoll()
    if (signal.aborted) return 'over'
    if (heard === 'redraw') return 'redraw'
    if (heard === undefined) return 'quiet'
  }
}

/**
 * Reads one key that stands alone. The same key twice is one press; more of it, and other keys right after it, are a
 * burst.
 */
export async function press(keyboard: Keyboard, signal: AbortSignal): Promise<Press> {
  const { promise, resolve } = Promise.withResolvers<Press>()
  const over = () => resolve({ type: 'over' })
  let first: string | undefined
  let count = 0
  let gap = new AbortController()
  const take = ({ kind, text }: Key) => {
    if (kind === 'paste' || (first !== undefined && text !== first)) return resolve({ type: 'burst' })
    if (++count >= HELD_KEYS) return resolve({ type: 'burst' })
    first = text
    gap.abort()
    gap = new AbortController()
    const { signal: repeated } = gap
    void pause(keyboard, GAP_MS, repeated).then(() => {
      if (!repeated.aborted) resolve({ type: 'key', key: text })
    })
  }
  using _ = keyboard.listen({
    keys(keys) {
      // The beginning of a sequence is another key as well.
      if (keys.length === 0 && first !== undefined) resolve({ type: 'burst' })
      for (const key of keys) take(key)
    },
    redraw: () => resolve({ type: 'redraw' }),
  })
  signal.addEventListener('abort', over, { once: true })
  if (signal.aborted) over()
  try {
    return await promise
  } finally {
    gap.abort()
    signal.removeEventListener('abort', over)
  }
}

/** Sleeps, and then lets the input be read that arrived before the end: a busy or suspended process is late. */
async function pause(keyboard: Keyboard, ms: number, signal: AbortSignal): Promise<void> {
  await keyboard.timers.sleep(ms, signal)
  if (!signal.aborted) await nextPoll()
}
