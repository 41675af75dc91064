import { performance } from 'node:perf_hooks'

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
