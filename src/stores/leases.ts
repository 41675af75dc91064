import { MainstemError } from '../model/index.ts'
import type { OpenTime } from './open-time.ts'

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
