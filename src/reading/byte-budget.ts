import type { Timers } from '../drivers/driver.ts'
import { MainstemError } from '../model/index.ts'

/** Bytes reserved from a budget. */
export interface Share {
  /** Safe to call more than once. */
  release(): void
  /** Keeps only this much of the share, where it is larger. */
  shrink(bytes: number): void
}

export interface TakeOptions {
  /** Refuses with `overloaded` after this time; waits without limit by default. */
  waitMs?: number | undefined
  /** The principal that reads. Its shares are limited, so that others always find room. */
  holder?: string | undefined
}

interface WaitingReader {
  bytes: number
  holder: string | undefined
  admit(share: Share): void
}

const EMPTY: Share = { release: () => undefined, shrink: () => undefined }

const RETRY_AFTER_S = 5

/**
 * Limits how many bytes are reserved at the same time. Callers are admitted in order, except that a
 * principal at its fair share does not delay the others. A share larger than the limit is admitted alone, so that
 * nothing waits forever.
 */
export class ByteBudget {
  readonly #limit: number
  readonly #timers: Timers
  readonly #waiting: WaitingReader[] = []
  readonly #heldBy = new Map<string | undefined, number>()
  #held = 0

  constructor(limit: number, timers: Timers) {
    this.#limit = limit
    this.#timers = timers
  }

  get held(): number {
    return this.#held
  }

  /** Waits until the bytes fit; undefined if the signal fires first. */
  async take(bytes: number, signal: AbortSignal, options: TakeOptions = {}): Promise<Share | undefined> {
    const { holder, waitMs } = options
    if (bytes === 0) return EMPTY
    if (signal.aborted) return undefined
    const isFirst = this.#waiting.every((one) => !this.#isFair(one.bytes, one.holder))
    if (isFirst && this.#fits(bytes) && this.#isFair(bytes, holder)) return this.#share(bytes, holder)
    return this.#wait(bytes, signal, holder, waitMs)
  }

  async #wait(
    bytes: number,
    signal: AbortSignal,
    holder: string | undefined,
    waitMs: number | undefined,
  ): Promise<Share | undefined> {
    const done = new AbortController()
    const { promise, resolve } = Promise.withResolvers<Share | 'left' | 'late'>()
    const waiting: WaitingReader = { bytes, holder, admit: resolve }
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

  /** A principal may always hold one share. */
  #isFair(bytes: number, holder: string | undefined): boolean {
    const held = this.#heldBy.get(holder) ?? 0
    if (holder === undefined || held === 0) return true
    return isFairShare(held + bytes, this.#limit - this.#held - bytes)
  }

  #share(bytes: number, holder: string | undefined): Share {
    this.#count(bytes, holder)
    let held = bytes
    const shrink = (kept: number) => {
      if (kept >= held) return
      this.#count(kept - held, holder)
      held = kept
      this.#admit()
    }
    return { release: () => shrink(0), shrink }
  }

  #count(bytes: number, holder: string | undefined): void {
    this.#held += bytes
    const held = (this.#heldBy.get(holder) ?? 0) + bytes
    if (held > 0) this.#heldBy.set(holder, held)
    else this.#heldBy.delete(holder)
  }

  #admit(): void {
    for (const next of [...this.#waiting]) {
      if (!this.#isFair(next.bytes, next.holder)) continue
      if (!this.#fits(next.bytes)) return
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      next.admit(this.#share(next.bytes, next.holder))
    }
  }
}

/**
 * Whether one principal may hold `own` of a limited resource while `free` of it is left: at most three times what is
 * left. One principal alone gets three quarters of it, two get three sevenths each, and there is always a rest for the
 * next one.
 */
export function isFairShare(own: number, free: number): boolean {
  return own <= 3 * free
}
