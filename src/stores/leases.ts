import { performance } from 'node:perf_hooks'
import { MainstemError } from '../model/index.ts'

/**
 * The expiry times of leases, for a store that one process has open. Owner and fence are stored with the session. The
 * leases of an earlier process have expired, because that process no longer has the store open.
 */
export class Leases {
  readonly #time: OpenTime
  readonly #ends = new Map<string, number>()

  constructor(time: OpenTime) {
    this.#time = time
  }

  /** Never shortens a lease. */
  extend(owner: string, ttlMs: number): void {
    const end = this.#time.now() + ttlMs
    this.#ends.set(owner, Math.max(end, this.#ends.get(owner) ?? end))
  }

  end(owner: string): void {
    this.#ends.delete(owner)
  }

  /** Whether a lease of this owner would still be valid. */
  isValid(owner: string | undefined): owner is string {
    return owner !== undefined && this.#leftMs(owner) > 0
  }

  /** The owners whose sessions this one cannot acquire. */
  othersThan(owner: string): string[] {
    return [...this.#ends.keys()].filter((other) => other !== owner && this.#leftMs(other) > 0)
  }

  /** Refuses an owner that wants a session of another one whose lease has not expired. */
  checkFree(session: string, holder: string | undefined, owner: string): void {
    if (holder === undefined || holder === owner) return
    const leftMs = this.#leftMs(holder)
    if (leftMs <= 0) return
    throw new MainstemError(
      'fenced',
      `session ${session} is leased to ${holder}`,
      Number.isFinite(leftMs) ? { retryAfter: Math.ceil(leftMs / 1000) } : {},
    )
  }

  #leftMs(owner: string): number {
    return (this.#ends.get(owner) ?? 0) - this.#time.now()
  }
}

/**
 * The total time that processes had a store open, in milliseconds, continued from the last stored value. Measures the
 * age of idempotency keys: by the system clock, a jump of a day would expire every key. Time without a process, and
 * before a crash the time after the last key, is not counted, so a key is kept longer than configured, never shorter.
 */
export class OpenTime {
  readonly #monotonic: () => number
  readonly #start: number

  constructor(last = 0, monotonic = () => performance.now()) {
    this.#monotonic = monotonic
    this.#start = last - monotonic()
  }

  now(): number {
    return Math.floor(this.#start + this.#monotonic())
  }
}
