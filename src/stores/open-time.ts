import { performance } from 'node:perf_hooks'

/**
 * How long processes had a store open, in milliseconds, counted on from the last value that was stored. The age of an
 * idempotency key is measured in it: the system clock may jump by a day, and every key would be forgotten at once.
 * Time without a process, and before a crash the time after the last key, is not counted, so a key is kept longer
 * than asked for and never shorter.
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
