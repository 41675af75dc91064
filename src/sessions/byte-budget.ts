import type { Timers } from '../drivers/driver.ts'
import { MainstemError } from '../model/index.ts'

/** Bytes reserved from a budget. */
export interface Share {
  /** Safe to call more than once. */
  release(): void
  /** Keeps only this much of the share, where it is larger. */
  shrink(bytes: number): void
}

interface Waiting {
  bytes: number
  admit(share: Share): void
}

const EMPTY: Share = { release: () => undefined, shrink: () => undefined }

const RETRY_AFTER_S = 5

/**
 * Limits how many bytes are reserved at the same time. Callers are admitted in order; a share larger than the limit is
 * admitted alone, so that nothing waits forever.
 */
export class ByteBudget {
  readonly #limit: number
  readonly #timers: Timers
  readonly #waiting: Waiting[] = []
  #held = 0

  constructor(limit: number, timers: Timers) {
    this.#limit = limit
    this.#timers = timers
  }

  get held(): number {
    return this.#held
  }

  /** Waits until the bytes fit; undefined if the signal fires first. Refuses with `overloaded` after `waitMs`. */
  async take(bytes: number, signal: AbortSignal, waitMs?: number): Promise<Share | undefined> {
    if (bytes === 0) return EMPTY
    if (signal.aborted) return undefined
    if (this.#waiting.length === 0 && this.#fits(bytes)) return this.#share(bytes)
    return this.#wait(bytes, signal, waitMs)
  }

  async #wait(bytes: number, signal: AbortSignal, waitMs: number | undefined): Promise<Share | undefined> {
    const done = new AbortController()
    const { promise, resolve } = Promise.withResolvers<Share | 'left' | 'late'>()
    const waiting: Waiting = { bytes, admit: resolve }
    const leave = () => resolve('left')
    this.#waiting.push(waiting)
    signal.addEventListener('abort', leave)
    if (waitMs !== undefined) void this.#timers.sleep(waitMs, done.signal).then(() => resolve('late'))
    const share = await promise
    signal.removeEventListener('abort', leave)
    done.abort()
    if (typeof share !== 'string') return share
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
    this.#admit()
    if (share === 'left') return undefined
    throw new MainstemError('overloaded', 'other readers use all the memory for large pages', {
      retryAfter: RETRY_AFTER_S,
    })
  }

  #fits(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#limit
  }

  #share(bytes: number): Share {
    this.#held += bytes
    let held = bytes
    const shrink = (kept: number) => {
      if (kept >= held) return
      this.#held -= held - kept
      held = kept
      this.#admit()
    }
    return { release: () => shrink(0), shrink }
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift()
      next.admit(this.#share(next.bytes))
    }
  }
}
