import { setTimeout as sleep } from 'node:timers/promises'

const FIRST_MS = 50
const LONGEST_MS = 2_000

/** Exponential backoff with jitter, so that servers do not all reconnect at the same moment. */
export class Backoff {
  readonly #until: number
  readonly #signal: AbortSignal
  #pauseMs = FIRST_MS

  /** Ends after `patienceMs`, or when the signal aborts. */
  constructor(patienceMs: number, signal: AbortSignal) {
    this.#until = performance.now() + patienceMs
    this.#signal = signal
  }

  /** Waits for the next attempt. Returns false if there is none. */
  async wait(): Promise<boolean> {
    const pauseMs = this.#pauseMs * (0.5 + Math.random())
    if (performance.now() + pauseMs > this.#until) return false
    this.#pauseMs = Math.min(LONGEST_MS, this.#pauseMs * 2)
    // Aborted: the caller gives up.
    await sleep(pauseMs, undefined, { signal: this.#signal }).catch(() => undefined)
    return !this.#signal.aborted
  }
}
